// The skill for agents that work from the board: printed, or put where they read it.

import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { define } from '../command.ts'
import { Setting } from '../setting.ts'
import { SKILL, SKILL_NAME } from '../skill/skill-text.ts'
import { UsageError } from '../usage.ts'

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
