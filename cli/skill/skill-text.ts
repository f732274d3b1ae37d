// The skill: a SKILL.md, as agents read it, with what to do by the tools of MCP and by commands.

import { numbered, RECIPE, RULE } from '../../libraries/mcp/recipe.ts'

export const SKILL_NAME = 'signalbox'

const STEPS = [
  '`signalbox claim --wait 8m` prints the task that is now yours alone (`task`, `title`). Exit ' +
    'code 3: none was free; run it again.',
  "Mark it as begun, with the board's own tool or in its file, and do it.",
  'Close it there. Then `signalbox release --done --summary "what you did"`.',
  'You cannot go on? `signalbox release --abandoned`: another agent may begin it.',
  'Before a commit: `signalbox check`. Exit code 4, from any of these: the task is somebody ' +
    "else's now. Stop.",
  'Exit code 1 or 2: do not run it again. Show the person what it printed.',
]

/**
 * The lines of docs/agents.md for the instructions of an agent.
 * @forTests They are compared with those.
 */
export const COMMAND_LINES = `${RULE}\n\n${numbered(STEPS)}`

const DESCRIPTION =
  'Takes tasks from the project’s task board so that no two agents work on the same one. Use it ' +
  'before you begin, finish or give up a task of the board, and to wait for one.'

export const SKILL = `\
---
name: ${SKILL_NAME}
description: ${DESCRIPTION}
---

# Work from the board

## With the tools of MCP (\`claim_task\` and others)

${RECIPE}
## With the command line, where there are no such tools

${COMMAND_LINES}`
