// All texts of the page. Another language needs only another file like this one. CSS uses logical
// properties, so that `direction` can be `rtl`.

import type { LostReason } from '../client/index.ts'
import type { Execution } from '../worker/board/wire.ts'
import type { AlertKind, DurableEvent, PaymentStatus } from '../worker/payments/domain/status.ts'
import type {
  DeliveryRecord,
  EventRecord,
  RefundRecord,
} from '../worker/payments/queries/queries.ts'

export const locale = 'en'

/** What the sentence of an alert names, as texts. */
export interface AlertFacts {
  amount: string
  expected: string
  /** A time. */
  since: string
  /** What the gateway reported last. */
  reported: string
  event: string
  endpoint: string
}

interface AlertTexts {
  title: string
  sentence(facts: AlertFacts): string
  todo: string
}
export const direction: 'ltr' | 'rtl' = 'ltr'

const plural = new Intl.PluralRules(locale)
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString(locale)} ${plural.select(n) === 'one' ? one : other}`
const list = (items: readonly string[]): string =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(items)

export const words = {
  product: 'Signalbox',
  skipToContent: 'Skip to the content',
  loading: 'Loading…',
  close: 'Close',

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
    waiting: 'Waiting for a sidecar',
    waitingHint: 'No sidecar has published this repository yet.',
    reasons: {
      unreachable: 'The edge does not answer.',
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

  time: {
    justNow: 'just now',
  },

  board: {
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
      } satisfies Record<Execution, string>,
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
        command: (edge: string, repo = 'NAME') =>
          `signalbox watch DIR --edge ${edge} --repo ${repo}`,
      },
      refused: {
        title: 'The edge refuses to show this board.',
        lead: 'Sign out, and sign in with a token for this repository.',
      },
      config: (sentence: string) => `The board’s configuration cannot be read: ${sentence}`,
    },

    detail: {
      loading: (id: string) => `Loading ${id}…`,
      unknown: (id: string) => `There is no task ${id}.`,
      unknownHint: 'It may have been deleted or renamed, or the link may be mistyped.',
      gone: 'This task was deleted. The page shows its last known state.',
      failed: (sentence: string) =>
        `The task could not be loaded. The page may show an old state. ${sentence}`,
      failedEmpty: (sentence: string) => `The task could not be loaded: ${sentence}`,
      again: 'Try again',
      facts: {
        assignees: (n: number) => (n > 1 ? 'Assignees' : 'Assignee'),
        priority: 'Priority',
        labels: 'Labels',
        parent: 'Part of',
        deps: 'Depends on',
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
  },

  payments: {
    title: 'Payments',
    missingScope: 'Your token lacks the scope payments:read, which is needed to see payments.',
    notConfigured: {
      title: 'Payments are not configured',
      lead:
        'Set LIBSQL_URL and the variables of a gateway; docs/payments.md lists them. ' +
        '`npm start` needs none of them: it includes a database and simulated gateways.',
    },
    noAnswer: 'The edge does not answer.',
    safeAgain: 'Pressing again is safe: it cannot happen twice.',

    freshness: {
      asOf: (time: string) => `As of ${time}`,
      notReached: (time: string) => `Not updated since ${time}`,
      neverReached: 'Not loaded',
      hint: 'Updated every five seconds while the page is visible.',
      late: 'The update takes longer than it should.',
    },

    status: {
      Pending: 'Pending',
      Paid: 'Paid',
      PartiallyRefunded: 'Partly refunded',
      Refunded: 'Refunded',
      Failed: 'Failed',
      Cancelled: 'Cancelled',
      Expired: 'Expired',
    } satisfies Record<PaymentStatus, string>,

    attention: {
      title: 'Needs a person',
      none: 'Nothing needs a person.',
      acknowledge: 'Acknowledge',
      acknowledgeOf: (title: string) => `Acknowledge: ${title}`,
      redeliver: 'Send again',
      redeliverOf: (event: string, endpoint: string) => `Send again: ${event} to ${endpoint}`,
      sentAgain: 'It is being sent again.',
      story: 'Details',
      storyOf: (reference: string) => `Details of ${reference}`,
      alerts: {
        late_payment: {
          title: 'Late payment',
          sentence: ({ amount }) =>
            `${amount} arrived for a payment that had already failed, expired or been cancelled.`,
          todo: 'Deliver the order, or refund the payment at the gateway.',
        },
        amount_mismatch: {
          title: 'A different amount was paid',
          sentence: ({ amount, expected }) => `${amount} was paid instead of ${expected}.`,
          todo: 'Compare it with the order. Then collect the rest, or refund the payment.',
        },
        refund_mismatch: {
          title: 'A different amount was refunded',
          sentence: ({ amount, expected }) =>
            `The gateway reports a refund of ${amount} instead of ${expected}.`,
          todo: 'Check the refund at the gateway, and settle the difference by hand.',
        },
        refund_failed: {
          title: 'A refund failed',
          sentence: ({ amount }) => `The gateway could not refund ${amount}.`,
          todo: 'Try the refund again, or refund by hand.',
        },
        unsettled: {
          title: 'A payment has no final status',
          sentence: ({ amount, since, reported }) =>
            `${amount} has been open since ${since}. The gateway last reported ${reported}.`,
          todo: 'Check it at the gateway.',
        },
        refund_unsettled: {
          title: 'A refund has no final status',
          sentence: ({ amount, since, reported }) =>
            `A refund of ${amount} has been open since ${since}. ` +
            `The gateway last reported ${reported}.`,
          todo: 'Check it at the gateway. Do not refund again before you know the result.',
        },
        unreadable: {
          title: 'A payment cannot be read',
          sentence: () =>
            'Its database row cannot be read, so its status is not checked with the gateway.',
          todo: 'Repair its database row. Until then, check the payment at the gateway.',
        },
        listener_dead: {
          title: 'A listener failed',
          sentence: ({ event }) => `The listeners have failed to process ${event} for a day.`,
          todo: 'Fix the listener, and do its work for this order by hand.',
        },
        delivery_dead: {
          title: 'An event was not delivered',
          sentence: ({ event, endpoint }) => `${endpoint} has not accepted ${event} for a day.`,
          todo: 'Fix the endpoint, then send the event again.',
        },
      } satisfies Record<AlertKind | 'refund_mismatch', AlertTexts>,
      unreadableAlert: 'An alert cannot be read',
      unreadableEvent: 'A webhook event cannot be read',
      unreadableTodo: 'Repair its database row.',
      nothing: 'nothing',
      anEvent: 'an event',
      anEndpoint: 'An endpoint',
      someMoney: 'An amount',
      lastStatus: (status: number) => `It last answered ${status}.`,
      error: (sentence: string) => `“${sentence}”`,
      parked: (n: number, isMore: boolean) =>
        `${count(n, 'webhook', 'webhooks')}${isMore ? ' or more' : ''} without a payment`,
      parkedSentence: (gateway: string, since: string) =>
        `Verified events of ${gateway} are parked, the oldest since ${since}: ` +
        'no payment here matches them.',
      parkedTodo:
        'They are applied as soon as their payment appears. ' +
        'If another system uses the same account of the gateway, they may belong to it.',
      parkedList: 'Show events',
    },

    gateways: {
      title: 'Gateways',
      none: 'No gateway is configured.',
      closed: 'Circuit closed',
      failing: (n: number) => `${count(n, 'call', 'calls')} in a row failed`,
      open: (time: string) => `Circuit open until ${time}`,
      openHint: (n: number) =>
        `After ${count(n, 'failed call', 'failed calls')} the gateway is not called. ` +
        'Charges are refused until then.',
      probing: 'Circuit half open: the next call is a test',
      refunds: 'refunds',
      noRefunds: 'no refunds',
      anyCurrency: 'any currency',
      currencies: (n: number) => count(n, 'currency', 'currencies'),
      local: 'simulated',
      driver: (name: string) => `driver ${name}`,
    },

    rates: {
      title: 'Webhooks per minute',
      none: 'No webhooks in the last hour.',
      summary: (n: number) => `${count(n, 'webhook', 'webhooks')} in the last hour`,
      plot: 'Plot of webhooks per minute in the last hour. The table below has the same data.',
      table: 'As a table',
      minute: 'Minute',
      failed: 'The plot could not be loaded. The table has the same data.',
    },
    outcomes: {
      applied: 'applied',
      unchanged: 'unchanged',
      parked: 'parked',
      illegal: 'illegal',
      rejected: 'rejected',
      late_payment: 'late',
    } satisfies Record<EventRecord['outcome'], string>,

    list: {
      title: 'Transactions',
      filters: 'Filters',
      search: 'Search by reference or id',
      status: 'Status',
      gateway: 'Gateway',
      any: 'all',
      onlyReference: (reference: string) => `Only ${reference}`,
      clear: 'Show all',
      reference: 'Reference',
      amount: 'Amount',
      paid: 'paid',
      age: 'Age',
      none: 'No payments yet.',
      noneFound: 'No payment matches.',
      more: 'Load more',
      loadingMore: 'Loading more…',
      unreadable: 'Unreadable',
      shown: (n: number, hasMore: boolean) =>
        `${count(n, 'payment', 'payments')}${hasMore ? ', and more' : ''}`,
    },

    story: {
      back: 'All payments',
      unknown: 'There is no payment with this id.',
      unreadableEntry: 'This entry cannot be read',
      unknownHint: 'It may be in another database, or the link is incomplete.',
      timeline: 'What happened',
      facts: 'Facts',
      id: 'Our id',
      gatewayId: 'The gateway’s id',
      externalId: 'External reference',
      correlation: 'Correlation id',
      attempt: 'Attempt',
      created: 'Created',
      updated: 'Last change',
      paid: 'Paid at',
      paidAmount: 'Paid',
      expires: 'Expires',
      refunded: 'Refunded',
      description: 'Description',
      gateway: 'Gateway',
      copy: (what: string) => `Copy: ${what}`,
      copied: 'Copied',
      notCopied: 'Not copied: the browser does not allow it.',
      pay: 'Open the payment page',
      initiated: 'Charge of',
      refused: 'The gateway refused the charge',
      webhook: 'Webhook',
      recheck: 'Status check',
      becomes: ' becomes ',
      says: (status: string) => `reports ${status}`,
      mismatch: 'not the requested amount',
      refundMismatch: 'not the amount that was paid or refunded',
      outcomes: {
        applied: 'Applied',
        unchanged: 'No change',
        parked: 'Parked until its payment appears',
        illegal: 'Ignored: not possible from the current status',
        rejected: 'Rejected: different amount or currency',
        late_payment: 'Too late: the status stays',
      } satisfies Record<EventRecord['outcome'], string>,
      eventId: 'Event',
      occurred: (time: string) => `happened ${time}`,
      raw: 'Data of the gateway (secrets are masked)',
      events: {
        PaymentInitiated: 'Event: the payment was initiated',
        PaymentSucceeded: 'Event: the payment succeeded',
        PaymentFailed: 'Event: the payment failed',
        PaymentCancelled: 'Event: the payment was cancelled or expired',
        PaymentRefunded: 'Event: the payment was refunded',
        AlertRaised: 'Event: an alert was raised',
      } satisfies Record<DurableEvent, string>,
      delivered: (time: string) => `Delivered to listeners ${time}`,
      undelivered: 'Not delivered to listeners yet',
      deliveries: {
        pending: 'pending',
        delivered: 'delivered',
        dead: 'failed for good',
      } satisfies Record<DeliveryRecord['status'], string>,
      attempts: (n: number) => count(n, 'attempt', 'attempts'),
      next: (time: string) => `next ${time}`,
      answered: (status: number) => `answered ${status}`,
      refund: 'Refund of',
      refundStates: {
        claimed: 'in progress',
        accepted: 'accepted, not refunded yet',
        succeeded: 'refunded',
        failed: 'failed',
      } satisfies Record<RefundRecord['status'], string>,
      reason: (text: string) => `“${text}”`,
      settled: (time: string) => `last change ${time}`,
      acknowledged: (by: string, time: string) => `Acknowledged by ${by}, ${time}`,
    },

    charge: {
      open: 'Make a test charge',
      lead: 'Uses a simulated gateway: no real money moves.',
      gateway: 'Gateway',
      amount: 'Amount',
      currency: 'Currency',
      description: 'Description',
      example: 'A lamp',
      submit: 'Charge',
      working: 'Charging…',
      badAmount: (currency: string) => `This is not a valid amount in ${currency}.`,
      leaving: 'Opening the payment page…',
      done: 'The charge was created. Pay it in the app of the bank with this code:',
      doneWithoutPage: 'The charge was created, but there is no payment page.',
      doneBefore: 'This was charged before. The status of the payment is now',
      deepLink: 'Open the app of the bank',
      page: 'Open the payment page',
      see: 'Show the payment',
    },

    stranded: {
      title: 'Nobody can pay this',
      lead: 'The charge was sent, but its payment page or code never came back.',
      explanation: (gateway: string) =>
        `${gateway} is asked once more. Only if this payment is certainly not paid, it is ` +
        'cancelled, and the order gets a new payment. Money that comes for the old one after ' +
        'that is shown as a late payment.',
      replace: 'Replace this payment',
    },

    refund: {
      open: 'Refund…',
      title: (reference: string) => `Refund ${reference}`,
      amount: (currency: string) => `Amount in ${currency}`,
      left: (amount: string) => `${amount} can be refunded.`,
      whole: (amount: string, gateway: string) =>
        `${gateway} supports full refunds only. The full amount of ${amount} is refunded.`,
      reason: 'Reason',
      next: 'Continue',
      confirm: (amount: string, gateway: string) =>
        `${gateway} will refund ${amount} to the payer. This cannot be undone.`,
      submit: (amount: string) => `Refund ${amount}`,
      back: 'Back',
      working: 'Refunding…',
      badAmount: 'This amount cannot be refunded.',
      noReason: 'Enter a reason.',
    },
  },

  failed: {
    title: 'This view has failed',
    lead: 'Other views still work. Reload the page. If the error remains, report this text:',
  },
} as const
