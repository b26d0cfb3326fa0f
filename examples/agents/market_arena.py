"""An adapter for agents of Agent Market Arena (arXiv 2510.11695), which decide symbol by symbol at POST /trading_action/.

Run: python3 market_arena.py 9000 URL-OF-THE-AGENT
"""

import json, sys, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer


def ask(day, symbol, price):
    body = {"date": day["date"], "symbol": [symbol], "price": {symbol: price}, "news": {symbol: []},
            "momentum": {symbol: "neutral"}, "history_price": {symbol: []}}
    request = urllib.request.Request(sys.argv[2] + "/trading_action/", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["recommended_action"].upper()


class Adapter(BaseHTTPRequestHandler):
    def do_POST(self):
        day = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        held = {holding["symbol"]: holding["quantity"] for holding in day["portfolio"]["holdings"]}
        prices = {symbol: price["open"] or price["previous_close"] for symbol, price in day["prices"].items()}
        said = {symbol: ask(day, symbol, price) for symbol, price in prices.items() if price}
        share = day["portfolio"]["value"] / len(said)
        orders = [{"side": "sell", "symbol": symbol, "amount": held[symbol]}
                  for symbol, action in said.items() if action == "SELL" and symbol in held]
        orders += [{"side": "buy", "symbol": symbol, "amount": int(share // prices[symbol])}
                   for symbol, action in said.items()
                   if action == "BUY" and symbol not in held and share >= prices[symbol]]
        answer = json.dumps({"orders": orders, "reason": json.dumps(said)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Adapter)
print(server.server_port, flush=True)
server.serve_forever()
