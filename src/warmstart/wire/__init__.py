"""Providers' JSON: one codec each for chat, responses, anthropic and gemini."""
