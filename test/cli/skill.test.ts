import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { COMMAND_LINES } from '../../cli/commands/skill.ts'
import { RECIPE } from '../../libraries/mcp/recipe.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

it('the skill is printed, and has the form that agents read', async () => {
  const { code, out } = await run(['skill', '--print'])
  expect(code).toBe(0)
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(out) ?? []
  expect(parse(head)).toEqual({ name: 'signalbox', description: expect.any(String) })
  expect(parse(head).description.length).toBeLessThanOrEqual(1_024)
  expect(body).toContain(RECIPE)
  expect(body).toContain(COMMAND_LINES)
})

it('its lines for the command line are those of the documentation', async () => {
  expect(await readFile('docs/agents.md', 'utf8')).toContain(
    `## Work from the board\n\n${COMMAND_LINES}`,
  )
})

it('the skill is written where agents read it, and again to this version', async () => {
  const cwd = tempFolder()
  const { out } = await run(['skill', '--print'])
  for (let times = 0; times < 2; times++) {
    expect(await run(['skill', '--write'], {}, { cwd })).toMatchObject({ code: 0 })
    for (const folder of ['.claude', '.agents']) {
      const file = join(cwd, folder, 'skills/signalbox/SKILL.md')
      expect(await readFile(file, 'utf8')).toBe(out)
    }
  }
})

it.each(['.', 'not-there-yet'])('the skill is written over no link, such as to %s', async (to) => {
  const [cwd, other] = [tempFolder(), tempFolder()]
  await symlink(join(other, to), join(cwd, '.agents'))
  const refused = await run(['skill', '--write'], {}, { cwd })
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('is a link') })
  await mkdir(join(cwd, '.claude/skills/signalbox'), { recursive: true })
  await symlink(join(other, 'not-there-yet'), join(cwd, '.claude/skills/signalbox/SKILL.md'))
  expect(await run(['skill', '--write'], {}, { cwd })).toMatchObject({ code: 2, out: '' })
  expect(await readdir(other)).toEqual([])
})

it.each([[[]], [['--write', '--print']]])(
  'the skill is either written or printed: %j',
  async (words) => {
    expect(await run(['skill', ...words])).toMatchObject({ code: 2 })
  },
)
