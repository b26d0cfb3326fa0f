"""Asks an agent of the OpenAI Agents SDK about the results of a running service, through the Model Context Protocol.

Install: pip install openai-agents. Set OPENAI_API_KEY, and OPENAI_BASE_URL for another provider.
Run: python3 ask_openai_agents.py MODEL "Which model leads, and could it be chance?"
"""

import asyncio
import os
import sys

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

URL = os.environ.get("API_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("API_TOKEN")

set_default_openai_api("chat_completions")  # what every provider speaks
set_tracing_disabled(True)  # otherwise the conversation is sent to OpenAI


async def main(model, question):
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    async with MCPServerStreamableHttp({"url": f"{URL}/mcp", "headers": headers}) as service:
        agent = Agent(name="reader", model=model, mcp_servers=[service])
        print((await Runner.run(agent, question)).final_output)


asyncio.run(main(*sys.argv[1:3]))
