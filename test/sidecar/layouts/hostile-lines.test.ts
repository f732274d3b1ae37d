// Lines that kept the process busy for seconds, or for good: what a layout makes of them. A parse
// that tries a text in many ways again ends in the timeout of its test.

import { describe, expect, it } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { conflictLine } from '../../../sidecar/layouts/text.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { say, sayTask } from './store.ts'

const openSpecWith = (generates: string, file: string) =>
  openStore(
    makeFolder({
      'openspec/config.yaml': 'schema: mine\n',
      'openspec/schemas/mine/schema.yaml': `artifacts:\n  - {id: tasks, generates: '${generates}'}\n`,
      [`openspec/changes/tea/${file}`]: '- [ ] 1.1 Boil\n',
    }),
  )

const specKit = () => openStore(makeFolder({ '.specify/x': '', 'specs/tea/tasks.md': '' }))

describe('a line that was made to take long', () => {
  it('is a pattern of OpenSpec with a star for each letter', async () => {
    const name = `${'a'.repeat(250)}.md`
    const store = await openSpecWith(`${'*a'.repeat(40)}*b`, name)
    expect(store.classify(`${store.root}/changes/tea/${name}`)).toBe('about')
  })

  it('has 200,000 spaces within the name of a person', async () => {
    const dir = makeFolder({ 'backlog/config.yml': 'project_name: Tea\n' })
    const name = `a${' '.repeat(200_000)}b`
    const text = `---\nid: task-1\nassignee: ${name}\n---\n`
    expect(sayTask(await openStore(dir), 'tasks/task-1 - Boil.md', text).assignee).toBe(name)
  })

  it('has 50,000 marks of spec-kit before its last word, or behind it', async () => {
    const marks = '[P] '.repeat(50_000)
    const text = `- [ ] T001 Boil ${marks}x\n- [ ] T002 Fill ${marks}\n`
    const [, boil, fill] = say(await specKit(), 'specs/tea/tasks.md', text)
    expect(boil).toHaveProperty('task.title', expect.stringMatching(/^Boil \[P\].*…$/))
    expect(boil).not.toHaveProperty('task.labels')
    expect(fill).toHaveProperty('task', expect.objectContaining({ title: 'Fill' }))
    expect(fill).toHaveProperty('task.labels', ['parallel'])
  })

  it('names a range of tasks 20,000 times, on each of a thousand lines', async () => {
    const list = Array.from({ length: 400 }, (_, n) => `- [ ] T${n + 1} Boil\n`).join('')
    const long = `- [ ] T901 Fill, depends on ${'T1-T400, '.repeat(20_000)}\n`
    const more = Array.from(
      { length: 1_000 },
      (_, n) => `- [ ] T${1_000 + n} Brew, depends on T1-T400\n`,
    )
    const entries = say(await specKit(), 'specs/tea/tasks.md', list + long + more.join(''))
    const waits = entries.map((entry) => (entry.kind === 'task' ? entry.task.deps?.length : 0) ?? 0)
    const sum = waits.reduce((all, count) => all + count, 0)
    const [fill] = entries.filter(({ id }) => id === 'tea/T901')
    expect(fill).toHaveProperty('task.deps.length', 400)
    expect(sum).toBeLessThan(60_000)
  })

  it('names a range of tasks that many tasks have', async () => {
    const list = Array.from({ length: 5_000 }, () => '- [ ] T002 Boil\n').join('')
    const line = '- [ ] T004 Fill, depends on T001-T003\n'
    const entries = say(await specKit(), 'specs/tea/tasks.md', list + line)
    expect(entries.at(-1)).toHaveProperty('task.deps', ['tea/T001', 'tea/T002', 'tea/T003'])
  })

  it('comes after 8 MiB of line breaks, with the marker of a conflict', () => {
    const text = `${'\n'.repeat(8 << 20)}>>>>>>> other\n`
    for (const hasFences of [true, false])
      expect(conflictLine(text, { hasFences })).toBe((8 << 20) + 1)
  })
})
