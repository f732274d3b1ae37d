// The Kiro layout: `.kiro/specs/<name>/` with `tasks.md` and `requirements.md`. Other tools write
// the same, such as cc-sdd.

import { basename, join } from 'node:path'
import { CHECKLIST, checklistStore, entriesOf, foldersIn } from './checklist.ts'
import { waveOrder } from './kiro-waves.ts'
import type { Layout } from './layout.ts'
import { realFolder } from './store-folder.ts'

const STORE = '.kiro'
const STATES = ['todo', 'queued', 'in-progress', 'done']

export const kiro = {
  signs: 'Kiro (.kiro/specs/ or .kiro/steering/)',
  marks: [STORE],
  async detect(dir) {
    const root = await realFolder(basename(dir) === STORE ? dir : join(dir, STORE))
    if (root === undefined) return undefined
    const tasksIn = join(root, 'specs')
    const isKiro = (await realFolder(tasksIn)) ?? (await realFolder(join(root, 'steering')))
    if (!isKiro) return undefined
    return checklistStore({
      board: { layout: 'kiro', states: STATES, closed: ['done'], initial: 'todo' },
      root,
      within: STORE,
      tasksIn,
      marks: { x: 'done', X: 'done', '-': 'in-progress', '~': 'queued' },
      // A bug has the latter.
      about: ['requirements.md', 'bugfix.md'],
      // All of them are named after the kind of the document.
      titleOf: () => undefined,
      fieldsIn:
        () =>
        ({ isOptional, lines }) => {
          const named = lines.flatMap(
            (line) => REQUIREMENTS.exec(line.trim())?.[1]?.split(',') ?? [],
          )
          return {
            ...(isOptional && { optional: true as const, labels: ['optional'] }),
            ...(named.length > 0 && { extra: { requirements: named.map((name) => name.trim()) } }),
          }
        },
      orderOf: waveOrder,
      unread() {
        const nested = foldersIn(tasksIn).flatMap((folder) =>
          foldersIn(folder).filter((below) => entriesOf(below).some(isChecklist)),
        )
        const [first] = nested
        if (first === undefined) return undefined
        const more = nested.length > 1 ? ` and ${nested.length - 1} more` : ''
        const what = `${nested.length > 1 ? 'Specs are' : 'A spec is'} not read: ${first}${more}`
        return `${what}. Only the folders in ${tasksIn} itself are specs, as in Kiro.`
      },
    })
  },
} satisfies Layout

const isChecklist = ({ name }: { name: string }): boolean => name === CHECKLIST

/** `_Requirements: 1.2, 3.4_`, on a line of its own below the task. */
const REQUIREMENTS = /^(?:[-*+]\s+)?_Requirements?: ([^_]{1,1000})_$/i
