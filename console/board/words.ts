// The texts of the board: its columns, cards, filters and notices.

import type { Task } from '../../api/types.ts'
import { count, list, locale } from '../words.ts'

export const boardWords = {
  title: 'Board',
  loading: 'Loading the board…',

  column: {
    noStatus: 'No status',
    empty: 'No tasks.',
    noneMatch: 'No matches.',
    tasks: (n: number) => count(n, 'task', 'tasks'),
    some: (shown: number, total: number) =>
      `${shown.toLocaleString(locale)} of ${total.toLocaleString(locale)}`,
    more: (n: number) => `Show ${n.toLocaleString(locale)} more`,
    left: (n: number) => `${n.toLocaleString(locale)} not shown`,
  },

  card: {
    ready: 'Ready',
    blocked: (ids: readonly string[]) => `Blocked by ${ids.join(', ')}`,
    missingDep: (id: string) => `${id} (does not exist)`,
    partOf: (id: string) => `Part of ${id}`,
    assignedTo: (names: readonly string[]) => `assigned to ${names.join(', ')}`,
    priority: (name: string) => `priority ${name}`,
    labels: (names: readonly string[]) => `labels ${names.join(', ')}`,
    invalid: (sentence: string) => `Cannot be read: ${sentence}`,
    execution: {
      active: 'Working',
      stalled: 'Stalled',
      awaiting_review: 'Awaiting review',
    } satisfies Record<NonNullable<Task['executionState']>, string>,
    by: (state: string, actor: string) => `${state}: ${actor}`,
  },

  changed: {
    named: (ids: string[]) => `${list(ids)} changed.`,
    many: (n: number) => `${count(n, 'task', 'tasks')} changed.`,
  },

  filters: {
    label: 'Search and filters',
    search: 'Search',
    searchHint: 'Search id, title, label, person',
    names: {
      folder: 'Folder',
      tag: 'Tag',
      parent: 'Part of',
      assignee: 'Assignee',
      label: 'Label',
      priority: 'Priority',
      execution: 'Work',
    },
    any: {
      folder: 'On the board',
      tag: 'All tags',
      parent: 'Part of anything',
      assignee: 'Anybody',
      label: 'Any label',
      priority: 'Any priority',
      execution: 'Any work',
    },
    allFolders: 'All folders',
    currentTag: (tag: string) => `${tag} (current)`,
    ready: 'Ready only',
    clear: 'Clear filters',
    all: (n: number) => count(n, 'task', 'tasks'),
    some: (shown: number, total: number) =>
      `${shown.toLocaleString(locale)} of ${count(total, 'task', 'tasks')}`,
    none: 'No task matches.',
    noneHint: 'Check the spelling, or clear the other filters.',
  },

  notice: {
    missing: {
      title: 'The folder of the board is missing.',
      lead: 'The page shows the last known state, until the folder is back.',
    },
    empty: {
      title: 'This board has no tasks yet.',
      lead: 'Save a first task in the folder of the board, and it appears here.',
    },
    waiting: {
      title: 'This repository has not been published yet.',
      lead: 'Start a sidecar where its files are. The board then appears here.',
      command: (edge: string, repo = 'NAME') => `signalbox watch DIR --edge ${edge} --repo ${repo}`,
    },
    refused: {
      title: 'The edge refuses to show this board.',
      lead: 'Sign out, and sign in with a token for this repository.',
    },
    config: (sentence: string) => `The board’s configuration cannot be read: ${sentence}`,
  },
} as const
