"""A LangChain agent that trades a day through the Model Context Protocol.

Install: pip install flask langchain langchain-openai langchain-mcp-adapters
Set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider.
Run: python3 langchain_agent.py 9000 MODEL
"""

import asyncio
import sys
import threading

from flask import Flask, request
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI

app = Flask(__name__)
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


async def trade(sent):
    headers = {"Authorization": "Bearer " + sent["day"]["token"]}
    day = {"transport": "http", "url": sent["day"]["mcp_url"], "headers": headers}
    tools = await MultiServerMCPClient({"day": day}).get_tools()
    model = ChatOpenAI(model=sys.argv[2], model_kwargs={"parallel_tool_calls": False})
    agent = create_agent(model, tools, system_prompt=sent["system"])
    messages = (await agent.ainvoke({"messages": [("user", sent["report"])]}))["messages"]
    spent = [message.usage_metadata for message in messages if getattr(message, "usage_metadata", None)]
    usage = {"prompt_tokens": sum(use["input_tokens"] for use in spent),
             "completion_tokens": sum(use["output_tokens"] for use in spent)}
    return {"done": True, "reason": messages[-1].text, "usage": usage}


@app.post("/decide")
def decide():
    return asyncio.run_coroutine_threadsafe(trade(request.get_json()), loop).result()


app.run(port=int(sys.argv[1]))
