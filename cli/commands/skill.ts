// The skill for agents that work from the board: what to do by the tools of MCP, and by commands.
// It is printed, or put where they read it.

import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { numbered, RECIPE, RULE } from '../../libraries/mcp/recipe.ts'
import { define } from '../command.ts'
import { Setting } from '../setting.ts'
import { UsageError } from '../usage.ts'

const SKILL_NAME = 'signalbox'

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

const SKILL = `\
---
name: ${SKILL_NAME}
description: ${DESCRIPTION}
---

# Work from the board

## With the tools of MCP (\`claim_task\` and others)

${RECIPE}
## With the command line, where there are no such tools

${COMMAND_LINES}`

/** Where the project's skills are: Claude Code's, and those of Codex, Cursor and others. */
const FOLDERS = ['.claude/skills', '.agents/skills']

const OPTIONS = [
  new Setting('--write', `put it in ${FOLDERS.join(' and ')} of this folder`),
  new Setting('--print', 'print it'),
] as const

export const command = define({
  usage: '--write | --print',
  description: `\
A skill is Markdown that an agent reads when it fits: how to claim, do and release a task of the
board, by MCP or by commands. --write makes ${SKILL_NAME}/SKILL.md in the folders for skills of this
folder, or brings them to this version.`,
  options: OPTIONS,
  async run({ options }, { io, cwd }) {
    if (options.write === options.print) throw new UsageError('Use either --write or --print.')
    if (options.print) {
      io.out(SKILL)
      return 0
    }
    const files = FOLDERS.map((folder) => join(cwd, folder, SKILL_NAME, 'SKILL.md'))
    for (const file of files) await refuseLink(file, cwd)
    for (const file of files) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, SKILL)
      io.out(`${file}\n`)
    }
    return 0
  },
})

/** A repository may have brought one: it is followed to a file of somebody else, or makes one. */
async function refuseLink(file: string, top: string): Promise<void> {
  for (let at = file; at !== top; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined)
    if (found?.isSymbolicLink()) {
      throw new UsageError(`${at} is a link, and nothing was written.`)
    }
  }
}
