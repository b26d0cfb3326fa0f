"""An agent without packages: it holds equal shares of every symbol that opened above its previous close.

Run: python3 rule.py 9000
"""

import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        day = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = [(symbol, price["previous_close"], price["open"]) for symbol, price in day["prices"].items()]
        rising = [symbol for symbol, before, now in known if before and now and now > before]
        weights = {symbol: round(0.9 / len(rising), 4) for symbol in rising}
        answer = json.dumps({"weights": weights, "reason": f"{len(rising)} opened higher."}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Agent)
print(server.server_port, flush=True)
server.serve_forever()
