// Every text of the page, in one place, so that a language is one file more. Lay out with logical
// properties: `direction` may be `rtl` one day.

import type { LostReason } from '../client/index.ts'
import type { AlertKind } from '../worker/payments/domain/alerts.ts'
import type { LifecycleEvent, PaymentStatus } from '../worker/payments/domain/status.ts'
import type {
  DeliveryRecord,
  EventRecord,
  RefundRecord,
} from '../worker/payments/queries/queries.ts'

export const locale = 'en'
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
    notSignedOut: 'Not signed out: the edge does not answer.',
  },

  signIn: {
    lead: 'Nothing is readable without a token. It is kept in a cookie that no script can read.',
    label: 'Access token',
    hint: 'npm start prints a link that signs in; npx signalbox sign-in prints another.',
    submit: 'Sign in',
    working: 'Signing in…',
    empty: 'Paste a token first.',
    noToken: 'That is no token.',
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
    board: 'Board',
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
    sidecarOnline: (ago: string) => `synced ${ago}`,
    sidecarOffline: (time: string) => `offline, last synced ${time}`,
    sidecarUnknown: 'never seen',
    sidecarUnasked: '…',
    storeMissing:
      'The board’s folder is missing on its machine. What you see is the last that was known.',
    signals: 'Last signals',
    noSignals: 'None yet. Save a task, and it shows here.',
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
      assignedTo: (names: readonly string[]) => `assigned to ${names.join(', ')}`,
      priority: (name: string) => `priority ${name}`,
      labels: (names: readonly string[]) => `labels ${names.join(', ')}`,
      invalid: (sentence: string) => `Cannot be read: ${sentence}`,
      execution: { active: 'Working', stalled: 'Stalled', awaiting_review: 'Awaiting review' },
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
      loading: (id: string) => `Loading ${id}…`,
      unknown: (id: string) => `There is no task ${id}.`,
      unknownHint: 'It may have been deleted or renamed, or the link may be mistyped.',
      gone: 'This task was deleted. What you see is the last that was known of it.',
      failed: (sentence: string) =>
        `It could not be fetched just now; what you see may be old. ${sentence}`,
      failedEmpty: (sentence: string) => `It could not be fetched: ${sentence}`,
      again: 'Try again',
      facts: {
        assignees: (n: number) => (n > 1 ? 'Assignees' : 'Assignee'),
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
  },

  payments: {
    title: 'Payments',
    missingScope: 'Your token lacks the scope payments:read, so no payments are shown here.',
    notConfigured: {
      title: 'Payments are not configured',
      lead:
        'Set LIBSQL_URL and the variables of a gateway; docs/payments.md names them all. ' +
        '`npm start` needs none: it brings a database and simulated gateways.',
    },
    noAnswer: 'The edge does not answer.',
    safeAgain: 'Pressing again is safe: it cannot happen twice.',

    freshness: {
      asOf: (time: string) => `As of ${time}`,
      notReached: (time: string) => `Not reached since ${time}`,
      neverReached: 'Not reached',
      hint: 'Asked again every five seconds while you look.',
      late: 'The answer takes longer than it should.',
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
      story: 'Its story',
      storyOf: (reference: string) => `The story of ${reference}`,
      kinds: {
        late_payment: 'Money came late',
        amount_mismatch: 'Another amount was paid',
        refund_mismatch: 'Another amount was given back',
        refund_failed: 'A refund failed',
        unsettled: 'A payment stays open',
        refund_unsettled: 'A refund stays open',
        unreadable: 'A payment cannot be read',
        listener_dead: 'A listener was not told',
        delivery_dead: 'An event was not delivered',
      } satisfies Record<AlertKind | 'refund_mismatch', string>,
      latePayment: (amount: string) =>
        `${amount} came for a payment that had already failed, been cancelled or expired.`,
      mismatch: (paid: string, asked: string) => `${paid} was paid where ${asked} was asked for.`,
      refundMismatch: (told: string, expected: string) =>
        `The gateway tells that ${told} was given back, where it should be ${expected}.`,
      refundFailed: (amount: string) => `The gateway could not give back ${amount}.`,
      unsettled: (amount: string, since: string, said: string) =>
        `${amount} is open since ${since}; asked last, the gateway said ${said}.`,
      refundUnsettled: (amount: string, since: string, said: string) =>
        `Giving back ${amount} is under way since ${since}; asked last, the gateway said ${said}.`,
      unreadable: 'Its row in the database cannot be read, so its gateway is not asked about it.',
      unreadableAlert: 'An alert cannot be read',
      unreadableEvent: 'A webhook event cannot be read',
      unreadableTodo: 'Repair its row in the database.',
      nothing: 'nothing',
      listenerDead: (event: string) => `The listeners in process did not take ${event} for a day.`,
      deliveryDead: (event: string, endpoint: string) =>
        `${endpoint} did not take ${event} for a day.`,
      anEvent: 'an event',
      anEndpoint: 'An endpoint',
      someMoney: 'An amount',
      todo: {
        late_payment: 'Deliver the order, or give the money back at the gateway.',
        amount_mismatch: 'Compare it with the order, then ask for the rest or give it back.',
        refund_mismatch: 'Look the refund up at the gateway, and settle the difference by hand.',
        refund_failed: 'Refund it again, or give it back by hand.',
        unsettled: 'Look it up at the gateway.',
        unreadable: 'Repair its row in the database; look it up at the gateway meanwhile.',
        refund_unsettled: 'Ask the gateway what became of it. Do not refund it again before.',
        listener_dead: 'Mend the listener, and do by hand what it should have done for this order.',
        delivery_dead: 'Mend the endpoint, then send it again.',
      } satisfies Record<AlertKind | 'refund_mismatch', string>,
      lastStatus: (status: number) => `It last answered ${status}.`,
      error: (sentence: string) => `“${sentence}”`,
      parked: (n: number, isMore: boolean) =>
        `${count(n, 'webhook', 'webhooks')}${isMore ? ' or more' : ''} found no payment`,
      parkedSentence: (gateway: string, since: string) =>
        `Verified events of ${gateway} are parked, the oldest since ${since}: ` +
        'no payment here has their name.',
      parkedTodo:
        'They are applied as soon as their payment appears. ' +
        'Where another system shares the gateway’s account, they are its own.',
      parkedList: 'Which ones',
    },

    gateways: {
      title: 'Gateways',
      none: 'No gateway is configured.',
      closed: 'Circuit closed',
      failing: (n: number) => `${count(n, 'call', 'calls')} in a row failed`,
      open: (time: string) => `Circuit open until ${time}`,
      openHint: (n: number) =>
        `After ${count(n, 'call', 'calls')} that failed it is not called; ` +
        'charges are refused meanwhile.',
      probing: 'Circuit half open: the next call tries it',
      refunds: 'refunds',
      noRefunds: 'no refunds',
      anyCurrency: 'any currency',
      currencies: (n: number) => count(n, 'currency', 'currencies'),
      local: 'simulated',
      driver: (name: string) => `driver ${name}`,
    },

    rates: {
      title: 'Webhooks per minute',
      none: 'No webhook came in the last hour.',
      summary: (n: number) => `${count(n, 'webhook', 'webhooks')} in the last hour`,
      plot: 'Plot of webhooks per minute in the last hour; the table below says the same.',
      table: 'As a table',
      minute: 'Minute',
      failed: 'The plot could not be loaded; the table has it all.',
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
      filters: 'Which transactions',
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
      noneFound: 'No payment is like that.',
      more: 'Load more',
      loadingMore: 'Loading more…',
      unreadable: 'Unreadable',
      shown: (n: number, hasMore: boolean) =>
        `${count(n, 'payment', 'payments')}${hasMore ? ', and more' : ''}`,
    },

    story: {
      back: 'All payments',
      unknown: 'There is no payment of this id.',
      unreadableEntry: 'Something that cannot be read',
      unknownHint: 'It may stand in another database, or its address was cut.',
      timeline: 'What happened',
      facts: 'Facts',
      id: 'Our id',
      gatewayId: 'The gateway’s id',
      externalId: 'Our name for it there',
      correlation: 'Correlation id',
      attempt: 'Attempt',
      created: 'Begun',
      updated: 'Last change',
      paid: 'Paid at',
      paidAmount: 'Paid',
      expires: 'Expires',
      refunded: 'Given back',
      description: 'Description',
      gateway: 'Gateway',
      copy: (what: string) => `Copy: ${what}`,
      copied: 'Copied',
      notCopied: 'Not copied: the browser does not allow it.',
      pay: 'Open the page to pay on',
      initiated: 'Charge asked for',
      refused: 'The gateway refused it',
      webhook: 'Webhook',
      recheck: 'The gateway was asked',
      becomes: ' becomes ',
      says: (status: string) => `says ${status}`,
      mismatch: 'another amount than asked for',
      refundMismatch: 'another amount than was paid or given back',
      outcomes: {
        applied: 'Applied',
        unchanged: 'It was so already',
        parked: 'Parked until its payment appears',
        illegal: 'Not possible from there, so nothing moved',
        rejected: 'Rejected: another amount or currency',
        late_payment: 'Too late: nothing moved',
      } satisfies Record<EventRecord['outcome'], string>,
      eventId: 'Event',
      occurred: (time: string) => `happened ${time}`,
      raw: 'What the gateway sent, secrets masked',
      lifecycle: {
        PaymentInitiated: 'was initiated',
        PaymentSucceeded: 'succeeded',
        PaymentFailed: 'failed',
        PaymentCancelled: 'was cancelled or expired',
        PaymentRefunded: 'was refunded',
      } satisfies Record<LifecycleEvent, string>,
      told: (what: string) => `Told: the payment ${what}`,
      toldAt: (time: string) => `Listeners took it ${time}`,
      notTold: 'Listeners have not taken it yet',
      deliveries: {
        pending: 'on its way',
        delivered: 'delivered',
        dead: 'given up',
      } satisfies Record<DeliveryRecord['status'], string>,
      attempts: (n: number) => count(n, 'attempt', 'attempts'),
      next: (time: string) => `next ${time}`,
      answered: (status: number) => `answered ${status}`,
      refund: 'Refund of',
      refundStates: {
        claimed: 'under way',
        accepted: 'accepted, and not yet given back',
        succeeded: 'given back',
        failed: 'failed',
      } satisfies Record<RefundRecord['status'], string>,
      reason: (text: string) => `“${text}”`,
      settled: (time: string) => `last change ${time}`,
      acknowledged: (by: string, time: string) => `Acknowledged by ${by}, ${time}`,
    },

    charge: {
      open: 'Make a test charge',
      lead: 'At a simulated gateway: nobody’s money moves.',
      gateway: 'Gateway',
      amount: 'Amount',
      currency: 'Currency',
      description: 'Description',
      example: 'A lamp',
      submit: 'Charge',
      working: 'Charging…',
      badAmount: (currency: string) => `That is no amount in ${currency}.`,
      leaving: 'Going to the page to pay on…',
      done: 'Charged. Pay it in the bank’s app with this code:',
      doneWithoutPage: 'Charged, and there is no page to pay it on.',
      doneBefore: 'This was charged before. The payment is now',
      deepLink: 'Open the bank’s app',
      page: 'Open the page to pay on',
      see: 'See its story',
    },

    refund: {
      open: 'Refund…',
      title: (reference: string) => `Refund ${reference}`,
      amount: (currency: string) => `Amount in ${currency}`,
      left: (amount: string) => `${amount} can still be given back.`,
      whole: (amount: string, gateway: string) =>
        `${gateway} gives back all of a payment at once: ${amount}, which was paid.`,
      reason: 'Reason',
      next: 'Go on',
      confirm: (amount: string, gateway: string) =>
        `${gateway} is asked to give ${amount} back to the payer. It cannot be taken back.`,
      submit: (amount: string) => `Give back ${amount}`,
      back: 'Change it',
      working: 'Asking the gateway…',
      badAmount: 'That is no amount that can still be given back.',
      noReason: 'Say why, for whoever reads it later.',
    },
  },

  failed: {
    title: 'This view has failed',
    lead: 'The rest goes on. Load the page again; if that does not help, this is what to tell us:',
  },
} as const
