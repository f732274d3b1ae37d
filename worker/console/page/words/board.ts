// What the board says; the key `board` of the dictionary.

type Count = (n: number, one: string, other: string) => string

const list = (locale: string, items: readonly string[]) =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(items)

export const boardWords = (count: Count, locale: string) =>
  ({
    title: 'Board',
    loading: 'Loading the board…',

    column: {
      noStatus: 'No status',
      empty: 'Nothing here.',
      noneMatch: 'None match.',
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
      assignedTo: (name: string) => `assigned to ${name}`,
      priority: (name: string) => `priority ${name}`,
      labels: (names: readonly string[]) => `labels ${names.join(', ')}`,
      invalid: (sentence: string) => `Cannot be read: ${sentence}`,
      execution: { active: 'Working', stalled: 'Stalled', awaiting_review: 'Awaiting review' },
      by: (state: string, actor: string) => `${state}: ${actor}`,
    },

    changed: {
      named: (ids: string[]) => `${list(locale, ids)} changed.`,
      many: (n: number) => `${count(n, 'task', 'tasks')} changed.`,
    },

    filters: {
      label: 'Search and filters',
      search: 'Search',
      searchHint: 'Search id, title, label, person',
      names: { assignee: 'Assignee', label: 'Label', priority: 'Priority', execution: 'Work' },
      any: {
        assignee: 'Anybody',
        label: 'Any label',
        priority: 'Any priority',
        execution: 'Any work',
      },
      ready: 'Ready only',
      clear: 'Clear filters',
      all: (n: number) => count(n, 'task', 'tasks'),
      some: (shown: number, total: number) =>
        `${shown.toLocaleString(locale)} of ${count(total, 'task', 'tasks')}`,
      none: 'No task matches.',
      noneHint: 'What you look for may be written differently, or be hidden by another filter.',
    },

    notice: {
      missing: {
        title: 'The board’s folder is missing.',
        lead: 'What you see is the last that was known. Once the folder is back, the board is too.',
      },
      empty: {
        title: 'This board has no tasks yet.',
        lead: 'Save the first one in the board’s folder, and it shows here by itself.',
      },
      waiting: {
        title: 'Nobody has published this repository yet.',
        lead: 'Start a sidecar beside its files. The board shows here as soon as it has.',
        command: (edge: string, repo = 'NAME') =>
          `signalbox-sidecar watch DIR --edge ${edge} --repo ${repo}`,
      },
      refused: {
        title: 'The edge refuses to show this board.',
        lead: 'Sign out and sign in with a token for it, or look at another repository.',
      },
      config: (sentence: string) => `The board’s configuration cannot be read: ${sentence}`,
    },

    detail: {
      close: 'Close',
      loading: (id: string) => `Loading ${id}…`,
      unknown: (id: string) => `There is no task ${id}.`,
      unknownHint: 'It may have been deleted or renamed, or the link may be mistyped.',
      gone: 'This task was deleted. What you see is the last that was known of it.',
      failed: (sentence: string) =>
        `It could not be fetched just now; what you see may be old. ${sentence}`,
      failedEmpty: (sentence: string) => `It could not be fetched: ${sentence}`,
      again: 'Try again',
      facts: {
        assignee: 'Assignee',
        priority: 'Priority',
        labels: 'Labels',
        parent: 'Part of',
        deps: 'Needs',
        subtasks: 'Subtasks',
        updated: 'Updated',
        rank: 'Rank',
        attempt: 'Attempt',
        noDep: 'does not exist',
      },
      body: 'Description',
      noBody: 'No description.',
      checks: 'Checks',
      checkNoResult: 'not run yet',
      checkMeta: { cwd: 'in', timeout: (seconds: number) => `at most ${seconds} s` },
      sessions: 'Sessions',
      sessionHealth: {
        active: 'Working',
        stalled: 'Stalled',
        finished: 'Finished',
        canceled: 'Canceled',
      },
      heartbeat: (ago: string) => `heartbeat ${ago}`,
      started: 'Started',
      ended: 'Ended',
      branch: 'Branch',
      commits: 'Commits',
      worktree: 'Worktree',
      canceledBecause: (reason: string) => `Canceled: ${reason}`,
      runs: 'Runs',
      exit: (code: number) => `exit ${code}`,
      timedOut: 'timed out',
      noOutput: 'No output.',
      history: 'History',
      extra: 'Other fields',
      span: (from: string, to: string | undefined) => (to ? `${from} → ${to}` : from),
      box: (isDone: boolean) => (isDone ? 'done' : 'to do'),
    },
  }) as const
