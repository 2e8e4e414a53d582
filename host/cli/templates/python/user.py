"""A simulated user who knows a few things. The secret is
`{"knows": {"period": "The second quarter of 2025."}, "otherwise": "I cannot say."}`: a question
that names a word gets its reply.
"""

import re

from tribunal import Failure

NAME = "{{name}}"
VERSION = "0.1.0"


def reply(host, secret, about, question):
    try:
        knows, otherwise = dict(secret["knows"]), secret["otherwise"]
    except (KeyError, TypeError, ValueError) as error:
        # For the author of the task: no byte of the secret may reach the agent.
        host.log(f"secret: {error!r}")
        raise Failure("failed", "the user cannot answer") from None
    asked = re.findall(r"\w+", f"{about} {question}".lower())
    return next((known for word, known in sorted(knows.items()) if word.lower() in asked), otherwise)
