// The OpenSpec layout: `openspec/changes/<change>/` with `tasks.md` and `proposal.md`. Which files
// a change has is in openspec-files.ts.

import { basename, join } from 'node:path'
import { checklistStore } from './checklist.ts'
import type { Layout, Store } from './layout.ts'
import { openSpecFiles } from './openspec-files.ts'
import { isFile, realFolder } from './store-folder.ts'

const STORE = 'openspec'

export const openSpec = {
  signs: 'OpenSpec (openspec/changes/ or openspec/config.yaml)',
  marks: [STORE],
  async detect(dir) {
    // The project may have the name of its store's folder.
    const inside = await storeIn(join(dir, STORE))
    return inside ?? (basename(dir) === STORE ? storeIn(dir) : undefined)
  },
} satisfies Layout

async function storeIn(folder: string): Promise<Store | undefined> {
  const root = await realFolder(folder)
  if (root === undefined) return undefined
  const tasksIn = join(root, 'changes')
  if (!(await realFolder(tasksIn)) && !(await isFile(join(root, 'config.yaml')))) return undefined
  return checklistStore({
    board: { layout: 'openspec', states: ['todo', 'done'], closed: ['done'], initial: 'todo' },
    root,
    within: STORE,
    tasksIn,
    archive: 'archive',
    // The tool takes every other mark for open: it has none for what somebody works on.
    marks: { x: 'done', X: 'done' },
    about: ['proposal.md'],
    files: openSpecFiles(root),
    titleOf: (heading) => heading.replace(/^(?:change(?: proposal)?|proposal):\s+/i, ''),
  })
}
