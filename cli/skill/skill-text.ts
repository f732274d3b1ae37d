// The skill: a SKILL.md, as agents read it, with what to do by the tools of MCP and by commands.

import { RECIPE } from '../../libraries/mcp/recipe.ts'

export const SKILL_NAME = 'signalbox'

/** The lines of docs/agents.md for the instructions of an agent. */
export const COMMAND_LINES = `\
Never poll the task board, and never begin a task that you have not claimed.

1. \`signalbox claim --wait 8m\` prints the task that is now yours alone (\`task\`, \`title\`). Exit code 3: none was free; run it again.
2. Mark it as begun, with the board's own tool or in its file, and do it.
3. Close it there. Then \`signalbox release --done --summary "what you did"\`.
4. You cannot go on? \`signalbox release --abandoned\`: another agent may begin it.
5. Before a commit: \`signalbox check\`. Exit code 4, from any of these: the task is somebody else's now. Stop.
6. Exit code 1 or 2: do not run it again. Show the person what it printed.
`

export const SKILL = `\
---
name: ${SKILL_NAME}
description: Takes tasks from the project's task board so that no two agents work on the same one. Use it before you begin, finish or give up a task of the board, and to wait for one.
---

# Work from the board

## With the tools of MCP (\`claim_task\` and others)

${RECIPE}
## With the command line, where there are no such tools

${COMMAND_LINES}`
