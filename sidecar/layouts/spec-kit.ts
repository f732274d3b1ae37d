// The spec-kit layout: `specs/<feature>/` with `tasks.md` and `spec.md`, beside `.specify/`.

import { join } from 'node:path'
import { checklistStore } from './checklist.ts'
import type { Layout } from './layout.ts'
import { realFolder } from './store-folder.ts'

export const specKit = {
  signs: 'spec-kit (.specify/)',
  marks: ['.specify'],
  async detect(dir) {
    const root = await realFolder(dir)
    if (root === undefined || !(await realFolder(join(root, '.specify')))) return undefined
    return checklistStore({
      board: { layout: 'spec-kit', states: ['todo', 'done'], closed: ['done'], initial: 'todo' },
      root,
      tasksIn: join(root, 'specs'),
      marks: { x: 'done', X: 'done' },
      about: ['spec.md'],
      titleOf: (heading) => heading.replace(/^feature specification:\s+/i, ''),
      fieldsOf({ text, group = '' }, idOf) {
        const marks = MARKS.exec(text)?.[0] ?? ''
        const waits = DEPS.exec(text)
        const labels = [...marks.matchAll(/\w+/g)].map(([mark]) => (mark === 'P' ? PARALLEL : mark))
        const deps = [...(waits?.[1] ?? '').matchAll(/T\d{1,6}[A-Za-z]?/g)].map(([id]) => idOf(id))
        const priority = /\(Priority: (\w+)\)/.exec(group)?.[1]
        return {
          title: text.slice(marks.length, waits?.index).trim(),
          ...(labels.length > 0 && { labels }),
          ...(deps.length > 0 && { deps }),
          ...(priority !== undefined && { priority }),
        }
      },
    })
  },
} satisfies Layout

/** `[P] [US1]`: which may run in parallel, and for which user story. */
const MARKS = /^(?:\[(?:P|US\d{1,6})\]\s*)+/
const PARALLEL = 'parallel'
const DEPS = /\(depends on ([^()]{1,1000})\)$/i
