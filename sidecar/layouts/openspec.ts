// The OpenSpec layout: `openspec/changes/<change>/` with `tasks.md` and `proposal.md`. Which files
// a change has is in openspec-files.ts.

import { basename, join } from 'node:path'
import { checklistStore, entriesOf } from './checklist.ts'
import type { Layout, Store } from './layout.ts'
import { openSpecFiles } from './openspec-files.ts'
import { isFile, readConfig, realFolder } from './store-folder.ts'
import { readYamlMap } from './yaml.ts'

const STORE = 'openspec'
const CONFIGS = ['config.yaml', 'config.yml']

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
  const configured = await Promise.all(CONFIGS.map((name) => isFile(join(root, name))))
  if (!(await realFolder(tasksIn)) && !configured.includes(true)) return undefined
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
    unread() {
      // The tool ignores the store where the project has changes or specs of its own.
      if (entriesOf(root).some(({ name }) => name === 'changes' || name === 'specs'))
        return undefined
      const file = CONFIGS.find((name) => readConfig(join(root, name)) !== '')
      const yaml = readYamlMap(file ? readConfig(join(root, file)) : '')
      const store = yaml.ok && yaml.fields.get('store')
      if (typeof store !== 'string') return undefined
      const what = `The changes of ${root} are in the store ${store}, which ${file} names`
      return `${what}: start signalbox in the folder of that store (openspec store list).`
    },
    titleOf: (heading) => heading.replace(/^(?:change(?: proposal)?|proposal):\s+/i, ''),
  })
}
