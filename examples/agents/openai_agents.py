"""An agent of the OpenAI Agents SDK that trades a day through the Model Context Protocol.

Install: pip install openai-agents. Set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider.
Run: python3 openai_agents.py 9000 MODEL
"""

import asyncio, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agents import Agent, ModelSettings, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

set_default_openai_api("chat_completions")  # what every provider speaks
set_tracing_disabled(True)  # otherwise each day is sent to OpenAI


async def trade(sent):
    headers = {"Authorization": "Bearer " + sent["day"]["token"]}
    async with MCPServerStreamableHttp({"url": sent["day"]["mcp_url"], "headers": headers}) as day:
        agent = Agent(name=sent["signature"], instructions=sent["system"], model=sys.argv[2],
                      model_settings=ModelSettings(parallel_tool_calls=False), mcp_servers=[day])
        result = await Runner.run(agent, sent["report"], max_turns=sent["limits"]["max_tool_calls"])
    spent = result.context_wrapper.usage
    usage = {"prompt_tokens": spent.input_tokens, "completion_tokens": spent.output_tokens}
    return {"done": True, "reason": result.final_output, "usage": usage}


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(asyncio.run_coroutine_threadsafe(trade(sent), loop).result()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Webhook)
print(server.server_port, flush=True)
server.serve_forever()
