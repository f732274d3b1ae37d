// The texts of the frame: navigation, sign-in, the choice of a repository, and the connection.

import type { LostReason } from '../../client/index.ts'
import { words } from '../words.ts'

export const frameWords = {
  skipToContent: 'Skip to the content',

  navigation: {
    label: 'Views',
    board: 'Board',
    payments: 'Payments',
    signOut: 'Sign out',
    notSignedOut: 'You are still signed in: the edge does not answer.',
  },

  signIn: {
    lead: 'Sign in with an access token. It is kept in a cookie that no script can read.',
    label: 'Access token',
    hint: 'Signalbox prints a sign-in link when it starts. npx signalbox sign-in prints a new one.',
    submit: 'Sign in',
    working: 'Signing in…',
    empty: 'Paste a token first.',
    noToken: 'This is not a valid token.',
    problem: (sentence: string) => `Sign-in failed: ${sentence}`,
    unreachable: 'The edge does not answer. Is it running?',
  },

  repository: {
    title: 'Which repository?',
    lead: 'Your token is valid for more than one.',
    label: 'Path of the repository',
    open: 'Open',
  },

  connection: {
    board: 'Board',
    connecting: 'Connecting…',
    live: 'Live',
    liveHint: 'The page shows the current state of the edge.',
    reconnecting: 'Reconnecting…',
    stale: (time: string) => `Stale since ${time}`,
    staleHint: 'The page shows the state of that time. It is updated as soon as the edge answers.',
    boardMissing: 'The folder is missing',
    offlineHint: 'The sidecar does not report. The page shows the state of that time.',
    waiting: 'Waiting for a sidecar',
    waitingHint: 'No sidecar has published this repository yet.',
    reasons: {
      unreachable: words.noAnswer,
      failing: 'The edge answers with errors.',
      ended: 'The edge ended the stream. This is normal from time to time.',
      silent: 'The connection was lost.',
      token: 'The page could not get a token.',
      behind: 'Something changed, and loading it takes longer than it should.',
    } satisfies Record<LostReason, string>,
    refused: 'Refused',
    closed: 'Closed',
    sidecar: 'Sidecar',
    sidecarOnline: (ago: string) => `synced ${ago}`,
    sidecarOffline: (time: string) => `offline, last synced ${time}`,
    sidecarUnknown: 'never seen',
    sidecarUnasked: '…',
    storeMissing:
      'The folder of the board is missing on its machine. The page shows its last known state.',
    signals: 'Last signals',
    noSignals: 'None yet. Save a task, and its signal appears here.',
    taskChanged: (id: string) => `${id} changed`,
    tasksChanged: 'Tasks changed',
    sessionChanged: (id: string) => `Session ${id} changed`,
  },

  failed: {
    title: 'This view has failed',
    lead: 'Other views still work. Reload the page. If the error remains, report this text:',
  },
} as const
