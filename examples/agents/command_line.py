"""An agent that starts Claude Code (claude) or Codex (codex) for each day, in an empty folder and without a web search.

Claude Code gets no tools but those of the day. Codex cancels calls of tools that it may not approve by itself, so it is
allowed to. The token is in a variable, not in the command line.

Run: python3 command_line.py 9000 claude
"""

import json, os, subprocess, sys, tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def command(url):
    if sys.argv[2] == "codex":
        options = {"url": url, "bearer_token_env_var": "DAY_TOKEN", "default_tools_approval_mode": "approve"}
        settings = [f"mcp_servers.day.{name}={json.dumps(value)}" for name, value in options.items()]
        words = [word for setting in [*settings, 'web_search="disabled"'] for word in ("-c", setting)]
        return ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", *words, "-"]
    day = {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${DAY_TOKEN}"}}
    return ["claude", "-p", "--mcp-config", json.dumps({"mcpServers": {"day": day}}), "--strict-mcp-config",
            "--tools", "", "--allowedTools", "mcp__day", "--output-format", "json"]


def trade(sent):
    prompt = sent["system"] + "\n\n" + sent["report"] + "\n\nThe server `day` has the tools of this day."
    with tempfile.TemporaryDirectory() as empty:
        said = subprocess.run(command(sent["day"]["mcp_url"]), input=prompt, stdout=subprocess.PIPE, text=True,
                              cwd=empty, env={**os.environ, "DAY_TOKEN": sent["day"]["token"]}, check=True,
                              timeout=sent["limits"]["seconds"]).stdout
    result = {"result": said} if sys.argv[2] == "codex" else json.loads(said)
    return {"done": True, "reason": result["result"][:20000], "usage": {"cost_usd": result.get("total_cost_usd")}}


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        answer = json.dumps(trade(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Webhook)
print(server.server_port, flush=True)
server.serve_forever()
