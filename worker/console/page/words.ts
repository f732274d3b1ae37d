// Every text of the page, in one place, so that a language is one file more. Lay out with logical
// properties: `direction` may be `rtl` one day.

import type { LostReason } from '../client/index.ts'
import { boardWords } from './words/board.ts'
import { paymentsWords } from './words/payments.ts'

export const locale = 'en'
export const direction: 'ltr' | 'rtl' = 'ltr'

const plural = new Intl.PluralRules(locale)
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString(locale)} ${plural.select(n) === 'one' ? one : other}`

export const words = {
  product: 'Signalbox',
  skipToContent: 'Skip to the content',
  loading: 'Loading…',

  navigation: {
    label: 'Views',
    board: 'Board',
    payments: 'Payments',
    signOut: 'Sign out',
    repository: 'Repository',
  },

  signIn: {
    title: 'Sign in',
    lead: 'Nothing is readable without a token. It is kept in a cookie that no script can read.',
    label: 'Access token',
    hint: 'npm start prints a link that signs in; npx signalbox sign-in prints another.',
    submit: 'Sign in',
    working: 'Signing in…',
    empty: 'Paste a token first.',
    problem: (sentence: string) => `That did not work: ${sentence}`,
    unreachable: 'The edge does not answer. Is it running?',
  },

  repository: {
    title: 'Which repository?',
    lead: 'Your token reaches more than one.',
    label: 'Path of the repository',
    open: 'Open',
  },

  connection: {
    label: 'Connection',
    connecting: 'Connecting…',
    live: 'Live',
    liveHint: 'What you see is what the edge knows.',
    reconnecting: 'Reconnecting…',
    stale: (time: string) => `Stale since ${time}`,
    staleHint:
      'What you see was current then. It is brought up to date as soon as the edge answers.',
    waiting: 'Waiting for a sidecar',
    waitingHint: 'No sidecar has published this repository yet.',
    reasons: {
      unreachable: 'Nothing answers at the edge’s address.',
      failing: 'The edge answers with errors.',
      ended: 'The edge ended the stream; that is normal now and then.',
      silent: 'The connection died without a word.',
      token: 'The token could not be had.',
      behind: 'A change was told, and fetching it takes longer than it should.',
    } satisfies Record<LostReason, string>,
    refused: 'Refused',
    closed: 'Closed',
    sidecar: 'Sidecar',
    sidecarOnline: (ago: string) => `seen ${ago}`,
    sidecarOffline: (time: string) => `offline, last seen ${time}`,
    sidecarUnknown: 'never seen',
    storeMissing:
      'The board’s folder is missing on its machine. What you see is the last that was known.',
    streams: (n: number) => count(n, 'reader', 'readers'),
    signals: 'Last signals',
    noSignals: 'None yet. Save a task, and it shows here.',
    taskChanged: (id: string) => `${id} changed`,
    tasksChanged: 'Tasks changed',
    sessionChanged: (id: string) => `Session ${id} changed`,
  },

  time: {
    justNow: 'just now',
  },

  board: boardWords(count, locale),

  payments: paymentsWords(count),

  failed: {
    title: 'This view has failed',
    lead: 'The rest goes on. Load the page again; if that does not help, this is what to tell us:',
  },
} as const
