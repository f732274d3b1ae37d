// A folder with the boards of four tools, and the five agents that edit it.

import { join } from 'node:path'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { type Agent, put } from './agent.ts'
import { BACKLOG_CONFIG, BacklogAgent, backlogTask, KEPT_TASKS } from './backlog-agent.ts'
import { BmadAgent } from './bmad-agent.ts'
import { KEPT, KEPT_LINES, KIRO, ListAgent, OPENSPEC } from './checklist-agent.ts'
import { EMPTY_BRANCH, GitAgent, git } from './git-agent.ts'

const STORIES = '_bmad-output/implementation-artifacts'
const SPRINT = `${STORIES}/sprint-status.yaml`

/** Numbers from 100 on, as many as stay. */
const kept = <Value>(count: number, make: (n: number) => Value): Value[] =>
  Array.from({ length: count }, (_, n) => make(100 + n))
const MENU = kept(KEPT_LINES, (n) => `- [ ] ${n}.1 Dish ${n}\n`).join('')

/** What each tool has in the beginning. */
const FIRST: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openspec: {
    'openspec/config.yaml': 'schema: spec-driven\n',
    'openspec/changes/tea/proposal.md': '# Change: Make tea\n\n## Why\n\nIt is cold.\n',
    'openspec/changes/tea/tasks.md':
      '## 1. Kettle\n\n- [x] 1.1 Fill\n- [ ] 1.2 Heat\n\n## 2. Cup\n\n- [ ] 2.1 Warm\n- [ ] Stir\n',
    'openspec/changes/cake/tasks.md': '- [ ] 1.1 Bake\n  - slowly\n- [ ] 1.2 Cool\n',
    [`openspec/changes/${KEPT}/tasks.md`]: MENU,
    'openspec/changes/archive/2026-01-02-jam/tasks.md': '- [x] 1.1 Boil\n',
  },
  kiro: {
    '.kiro/specs/oven/requirements.md': '# Requirements Document\n\nHot.\n',
    '.kiro/specs/oven/tasks.md':
      '# Plan\n\n- [x] 1. Door\n  - [x] 1.1 Hinge\n  - [-] 1.2 Glass\n    - _Requirements: 1.2_\n- [ ]* 2. Paint\n',
    [`.kiro/specs/${KEPT}/tasks.md`]: MENU,
    '.kiro/specs/till/tasks.md': '- [ ] 1. Drawer\n- [~] 2. Bell\n',
  },
  'backlog-md': {
    'backlog/config.yml': BACKLOG_CONFIG,
    'backlog/tasks/back-1 - Bread.md': backlogTask('BACK-1', 'Bread', 'To Do'),
    'backlog/tasks/back-2 - Rolls.md': backlogTask(
      'BACK-2',
      'Rolls',
      'To Do',
      'dependencies: [BACK-1]\n',
    ),
    ...Object.fromEntries(
      kept(KEPT_TASKS, (n) => [
        `backlog/tasks/back-${n} - Dish.md`,
        backlogTask(`BACK-${n}`, `Dish ${n}`, 'To Do'),
      ]),
    ),
    'backlog/completed/back-3 - Sign.md': backlogTask('BACK-3', 'Sign', 'Done'),
    'backlog/drafts/draft-1 - Ice.md': backlogTask('DRAFT-1', 'Ice', 'Draft'),
  },
  bmad: {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
    [SPRINT]:
      'development_status:\n  epic-1: in-progress\n  1-1-dough: review\n  1-2-yeast: backlog\n  epic-1-retrospective: optional\n  epic-9: backlog\n' +
      kept(40, (n) => `  9-${n}-dish: backlog\n`).join(''),
    [`${STORIES}/1-1-dough.md`]: '# Story 1.1: Dough\n\nStatus: review\n\n- [ ] Knead\n',
  },
}

/** Makes a project with the boards of these tools on two of its branches. */
export async function makeProject(dir: string, tools: readonly string[]): Promise<void> {
  for (const tool of tools) {
    for (const [name, text] of Object.entries(FIRST[tool] ?? {})) await put(join(dir, name), text)
  }
  await git(dir, 'init', '-q', '-b', 'main')
  await git(dir, 'config', 'gc.auto', '0')
  await git(dir, 'add', '-A')
  await git(dir, 'commit', '-qm', 'first')
  await git(dir, 'branch', 'other')
  await git(dir, 'branch', EMPTY_BRANCH, await git(dir, 'commit-tree', EMPTY_TREE, '-m', 'empty'))
}

/** Git knows it without its being stored. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** Those that edit the boards of these tools, and the one with git. */
export function agentsOf(dir: string, tools: readonly string[], random: Seeded): Agents {
  const made: Record<string, (own: Seeded) => Agent> = {
    openspec: (own) => new ListAgent(join(dir, 'openspec/changes'), OPENSPEC, own),
    kiro: (own) => new ListAgent(join(dir, '.kiro/specs'), KIRO, own),
    'backlog-md': (own) => new BacklogAgent(join(dir, 'backlog'), own),
    bmad: (own) => new BmadAgent(join(dir, STORIES), own),
  }
  const agents = tools.flatMap((tool) => made[tool]?.(random.fork()) ?? [])
  const withGit = new GitAgent(dir, random.fork())
  return { all: [...agents, withGit], withGit }
}

interface Agents {
  all: readonly Agent[]
  withGit: GitAgent
}
