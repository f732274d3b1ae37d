// Made by `npm run generate` from the OpenAPI document: change the schemas.

export interface Acknowledged {
  acknowledged: true
}

export interface Acknowledgement {
  /** The gateway’s id of what was done about it, such as a refund by hand. */
  gatewayReference?: string
}

export interface Activity {
  /** The newest first. */
  activity: ActivityRow[]
  /** There are older rows: `before=` it. */
  next?: number
  /** The hash before the last row here, where no filter leaves any out. */
  previous?: string
}

/** A change of a task, a claim, or the board. */
export interface ActivityRow {
  /** Rises by one with each row. */
  seq: number
  /** By the clock of the edge. */
  at: string
  /**
   * Of a task that changed, the first of these that fits. `published`: the first publication
   * of the board, in one row. `ended`: the claim, with its task.
   */
  kind:
    | 'created'
    | 'deleted'
    | 'status'
    | 'title'
    | 'assignee'
    | 'deps'
    | 'checks'
    | 'published'
    | 'claimed'
    | 'progress'
    | 'released'
    | 'expired'
    | 'ended'
    | 'review'
    | 'merged'
    | 'switched'
    | 'sidecar'
  /** Its id. */
  task?: string
  /** Of the task, cut at 500 characters. */
  title?: string
  /** Who has the claim; of a change of a task, who held it then or had finished it. */
  actor?: string
  /** The linked worktree: of the claim, or the only ones that have the task. */
  tree?: string
  /**
   * By field: before, and after. `closed`: whether the status counts as closed. `health`: of
   * the session that a claim is.
   */
  changes?: Record<string, (string | number | boolean | string[] | null)[]>
  summary?: string
  /** `switch`: git switched the main tree. `other`: not the holder ended the claim. */
  by?: 'switch' | 'other'
  /** It was found when the board was published anew. */
  caughtUp?: true
  /**
   * `deleted_while_open` once it has stood for 120 s. `unclaimed`: closed, and no claim of it
   * was valid then, or finished in the 90 days before. They follow from the rows and the time
   * of reading, and no hash covers them.
   */
  marks?: ('deleted_while_open' | 'reopened' | 'unclaimed')[]
  /** SHA-256 of the hash before, a line end, and the row as JSON without its marks. */
  hash: string
}

export interface Alert {
  id: string
  kind: AlertKind
  gateway: string
  /** Ours. */
  transactionId?: string
  detail: AlertDetail
  createdAt: string
  acknowledgedAt?: string
  /**
   * The subject of a person’s token; `refund`: the payment was refunded; `gateway`: it has
   * reported money, or an end, or that of a dispute; `capture`: all of it was captured;
   * `delivery`: the endpoint accepts events again.
   */
  acknowledgedBy?: string
  /** The gateway’s id of what was done about it, such as a refund by hand. */
  gatewayReference?: string
}

/** What happened, as far as it is known. Amounts are in minor units. */
export interface AlertDetail {
  /** The host application’s, of the payment. */
  reference?: string
  /** The gateway’s event has it; without one, the payment or the refund. */
  amount?: number
  currency?: string
  /** What was requested or, of a refund, what was paid of it. */
  expectedAmount?: number
  expectedCurrency?: string
  /** In an event whose ids contradict, or that our key may not read. */
  gatewayTransactionId?: string
  /** In an event whose ids contradict. */
  externalReferenceId?: string
  /** The gateway’s event that raised it. */
  eventId?: string
  /** Ours: the other payment of a paid order, or the one that contradicting ids name. */
  otherTransactionId?: string
  /** The gateway of that other payment. */
  otherGateway?: string
  /** Our id of the refund, or else the gateway’s. */
  refundId?: string
  /** The id of a refund that was asked for here. */
  gatewayRefundId?: string
  /** The subject that asked for the refund. */
  askedBy?: string
  /** Of a dispute: the bank only asks, and no money is out yet. */
  inquiry?: true
  /** How a dispute has ended, in the gateway’s word, such as `won` or `lost`. */
  outcome?: string
  /** Open since. */
  since?: string
  /**
   * For a refund with a wrong amount, and for ids that contradict, the status of the event.
   * Otherwise, what the gateway answered last.
   */
  gatewayStatus?: PaymentStatus | 'none'
  /** The id of the event that was not delivered. */
  event?: string
  /** The type of the event that was not delivered. */
  type?:
    | 'PaymentInitiated'
    | 'PaymentSucceeded'
    | 'PaymentFailed'
    | 'PaymentCancelled'
    | 'PaymentRefunded'
    | 'RefundAmountChanged'
    | 'AlertRaised'
    | 'AlertSettled'
  /** What can be sent again. */
  deliveryId?: string
  /** Where it can be sent again to. */
  endpoint?: string
  lastStatus?: number
  /** The gateway’s, or why an event was not taken, or cannot be read. */
  error?: PaymentError | string
}

/** Why a person should look at a payment. The most urgent first. */
export type AlertKind =
  | 'late_payment'
  | 'double_payment'
  | 'amount_mismatch'
  | 'id_mismatch'
  | 'refund_failed'
  | 'dispute'
  | 'unsettled'
  | 'refund_unsettled'
  | 'unreadable'
  | 'endpoint_gone'
  | 'listener_dead'
  | 'delivery_dead'

export interface AlertRaisedEvent {
  type: 'AlertRaised'
  timestamp: string
  /** A person should look at this transaction: the alert says why. */
  data: {
    alert: RaisedAlert
    transaction: Transaction
  }
}

export interface AlertSettledEvent {
  type: 'AlertSettled'
  timestamp: string
  /** Somebody acknowledged this alert, or a refund settled it. */
  data: {
    alert: SettledAlert
    transaction: Transaction
  }
}

export interface AlertsPage {
  alerts: (Alert | Unreadable)[]
  /** Begins the next page, if there may be one. */
  cursor?: string
}

export interface AuditPage {
  audit: (AuditRecord | Unreadable)[]
  /** Begins the next page, if there may be one. */
  cursor?: string
}

/** Who asked for what. Webhooks and the sweeper are not in it: nobody asked. */
export interface AuditRecord {
  id: string
  at: string
  /**
   * `late_refund`: of money that came after its payment had ended. `reopen`: an
   * acknowledgement was taken back. `forget`: what may name the payer was deleted. `pause`,
   * `resume`: of all payments.
   */
  action:
    | 'charge'
    | 'replace'
    | 'cancel'
    | 'refund'
    | 'late_refund'
    | 'check'
    | 'redeliver'
    | 'acknowledge'
    | 'reopen'
    | 'note'
    | 'forget'
    | 'pause'
    | 'resume'
  /** The `sub` of the token, or the name that a caller in process gave itself. */
  subject: string
  /** Ours. */
  transactionId?: string
  gateway?: string
  reference?: string
  /** The id of the refund, alert, delivery or note, or of the attempt that replaced this one. */
  about?: string
  amount?: number
  currency?: string
  /** The kind of the alert, or `repeat`. */
  detail?: string
}

/** The configuration of a board. */
export interface BoardConfig {
  layout: 'cairn' | 'backlog-md' | 'task-master' | 'openspec' | 'kiro' | 'spec-kit' | 'bmad'
  /** What the tool calls the project. */
  project?: string
  prefix?: string
  states: string[]
  closed: string[]
  initial?: string
  /** The list that the tool works in now. */
  currentTag?: string
  extra?: Record<string, unknown>
  /** Why the file could not be read whole, in one sentence. It stays listed. */
  invalid?: string
}

/**
 * One record of the read model. `hash` covers the bytes of its file, every derived value and
 * the key, so two equal hashes are the same record.
 */
export type BoardRecord =
  | {
      kind: 'task'
      id: string
      hash: string
      /**
       * Covers only the task’s own file. If it is unchanged, another file caused the change, and
       * clients get a message about that one.
       */
      file: string
      /** Where trees have copies of it: covers only the main tree’s file. */
      copy?: string
      task: {
        id: string
        title: string
        status: string
        assignee?: string
        /** All of them, `assignee` first; only where a task has more than one. */
        assignees?: string[]
        /** Ids of the tasks that must be closed before this one is `ready`. */
        deps?: string[]
        /**
         * Not closed, not `held`, and every dep is closed. So it stays true of a task that somebody
         * has begun.
         */
        ready: boolean
        /**
         * Nobody is to begin it, whatever its deps: its tool lets nobody (a draft, a deferred task,
         * a change with a list of tasks), it is `invalid`, or only `trees` have it.
         */
        held?: true
        /** Two tasks have this id, so it is `invalid`: nobody can say which one is meant. */
        sharesId?: true
        updatedAt?: string
        rank?: number
        labels?: string[]
        priority?: string
        parent?: string
        /** In a checklist, the task that it is indented under, or numbered below. */
        partOf?: string
        /** What it is part of is done without it. */
        optional?: true
        /** In a checklist: its id is of its text, so another text is another id. */
        unnumbered?: true
        /** Where it stands, below the project’s folder. With `inMain: false`: of a tree. */
        file?: string
        /** Where the tool keeps what is not on its board: `drafts`, `completed`, `archive`. */
        folder?: string
        /** The list of the tool that it belongs to. */
        tag?: string
        /** By its title, where the tool gives it one. */
        milestone?: string
        /** A day, without a time zone: `YYYY-MM-DD`. */
        dueDate?: string
        type?: string
        /** As the tool estimates it. */
        complexity?: number
        activeAttempt?: string
        executionState?: 'active' | 'stalled' | 'awaiting_review'
        sessionId?: string
        /**
         * The linked worktrees that changed the task, where one did: against the main tree, and
         * against what both have in common. Every other field is the main tree’s.
         */
        trees?: {
          /** Its name in `worktrees/` of the repository. */
          tree: string
          branch?: string
          /** Its top folder. */
          dir: string
          status?: string
          title?: string
          updatedAt?: string
          /** It took the task out. */
          gone?: true
          /** Its file cannot be read there, as in the middle of a merge: it counts as begun. */
          invalid?: true
        }[]
        /** Only `trees` have the task: its fields are those of the newest copy. */
        inMain?: false
        /** With `inMain: false`: the main tree had it, and has deleted it since. */
        deletedInMain?: true
        checks?: Check[]
        provenance?: Provenance[]
        /** Fields of the file that Signalbox does not know, as they stand there. */
        extra?: Record<string, unknown>
        /** Markdown; cut at 512 KiB with a last line that says so. */
        body?: string
        /** Why the file could not be read whole, in one sentence. It stays listed. */
        invalid?: string
      }
    }
  | {
      kind: 'session'
      id: string
      hash: string
      session: {
        id: string
        task: string
        attempt: string
        actor: string
        client?: string
        model?: string
        status: string
        startedAt: string
        /**
         * The last sign that somebody works: of a claim what a renewal says, else the heartbeat.
         * Absent: there was none since the start.
         */
        activeAt?: string
        endedAt?: string
        branch?: string
        headStarted?: string
        headFinished?: string
        summary?: string
        cancelReason?: string
        health: 'active' | 'stalled' | 'finished' | 'canceled'
        live?: Live
        /** The linked worktree of git in which it is; absent: the main tree. */
        tree?: string
        /** Why the file could not be read whole, in one sentence. It stays listed. */
        invalid?: string
      }
    }
  | {
      kind: 'run'
      id: string
      hash: string
      task: string
      run: Run
    }
  | {
      kind: 'board'
      id: 'board'
      hash: string
      board: BoardConfig
    }

export interface BoardReport {
  /** The run of the sidecar, from its sync. */
  run: number
  sidecar: {
    /** `ended`: it ends in order. */
    state: 'running' | 'ended'
    version: string
  }
  title: string
  layout: 'cairn' | 'backlog-md' | 'task-master' | 'openspec' | 'kiro' | 'spec-kit' | 'bmad'
  /** What the tool lists: no drafts, and nothing of its archive. */
  counts: {
    tasks: number
    closed: number
    ready: number
  }
  /** Missing: the folder is gone, the data is kept. */
  store: 'present' | 'missing'
  /** When a task last changed, by what the sidecar saw. */
  changedAt?: string
  /** The version of the publishing protocol. */
  wire: 3
}

/** What a lead has set for a board. */
export interface BoardSettings {
  /** Nothing is handed out. What is held goes on. */
  paused: boolean
  /** One agent per parent: no task of which another holds one with the same `parent`. */
  perParent: boolean
  /** So many valid claims at most. `null`: as many as are asked for. */
  atMost: number | null
}

export interface BoardSettingsChange {
  /** Nothing is handed out. What is held goes on. */
  paused?: boolean
  /** One agent per parent: no task of which another holds one with the same `parent`. */
  perParent?: boolean
  /** So many valid claims at most. `null`: as many as are asked for. */
  atMost?: number | null
}

export interface BoardStatus {
  layout?: 'cairn' | 'backlog-md' | 'task-master' | 'openspec' | 'kiro' | 'spec-kit' | 'bmad'
  /** As the board itself has it. */
  config?: {
    /** What the tool calls the project. */
    project?: string
    prefix?: string
    states: string[]
    closed: string[]
    initial?: string
    /** The list that the tool works in now. */
    currentTag?: string
    extra?: Record<string, unknown>
    /** Why the file could not be read whole, in one sentence. It stays listed. */
    invalid?: string
  }
  /** Missing: the folder is gone, the data is kept. */
  store: 'present' | 'missing'
  counts: {
    tasks: number
    sessions: number
    runs: number
    invalid: number
  }
  sidecar: {
    /** `ended`: in order. `offline`: it was killed, or cannot reach the edge. */
    state: 'running' | 'offline' | 'ended'
    /** Of `offline` and `ended`. */
    since?: string
    lastSeenAt?: string
    version?: string
    /** Its watcher has failed: changes are found by scans, each second or later. */
    unwatched?: true
  }
  /** Until then, the edge had all that the sidecar saw in the folder. */
  currentAt?: string
  /** How many of its files the sidecar has read for the first publication. */
  reading?: {
    done: number
    total: number
  }
  /** Where git has the main tree of the board, where it is in one. */
  main?: {
    head: string
    branch?: string
  }
  /** The clock of the edge. It is not compared by `If-None-Match`. */
  now: string
  /** Connected streams, in round numbers. */
  streams: number
  /** Since when the repository is in memory. */
  awakeSince: string
  /** Who works and shows no sign of it for so long is silent: the variable `SILENT_AFTER`. */
  silentAfterMs: number
}

export interface Boards {
  /** Those that the token covers: those that run first, those whose files are gone last. */
  boards: ListedBoard[]
}

export interface ChangesAnswer {
  /** `<epoch>-<seq>` of the newest change with a message to clients. */
  seq: string
  /** The message that clients got now. Null if they see no change, or before its last part. */
  message: Message | null
  /** This run and batch was applied before; nothing happened now. */
  duplicate?: true
  /** The version of the publishing protocol. */
  wire: 3
}

export interface ChangesRequest {
  /** The edge’s own, from the sync. */
  epoch: string
  run: number
  /** Rises with every message; the edge applies each one once. */
  batch: number
  upserts: BoardRecord[]
  deletes: string[]
  /** Keys that clients should refetch although no record of theirs is in this message. */
  touched?: string[]
  /** More parts of this change follow. Clients get its message after the last one. */
  more?: boolean
  /** How many of its files the sidecar has read for the first publication. */
  reading?: {
    done: number
    total: number
  }
  /** Where git has the main tree. Absent: it is as it was, or nothing is known of it. */
  main?: {
    head: string
    branch?: string
    /** Since it was last sent: another branch, no later commit, or away and back. */
    switched?: true
    /** Of a switch: where that branch is, if not as last sent, or where it was. */
    from?: string
  }
  /** The version of the publishing protocol. */
  wire: 3
}

export interface ChargeRequest {
  /** Key of the configuration, such as `redirect`. */
  gateway: string
  /** Your id of the order. Repeating the charge of an order is safe: it cannot be paid twice. */
  reference: string
  /** Minor units: IQD 25,000 is 25000, USD 12.50 is 1250. */
  amount: number
  currency: string
  /** The text that the payer sees. */
  description: string
  /** The page that the payer returns to; overrides the configured one. */
  returnUrl?: string
  /**
   * The page for a payer who does not pay; overrides the configured one. Without both, it is
   * `returnUrl`.
   */
  cancelUrl?: string
  /** Sent to the gateway, and not stored. */
  customerPhone?: string
  metadata?: Metadata
  /**
   * If this charge was requested before, and its page or code was lost or has expired: once
   * its gateway is certain that it is not paid, it is cancelled, and another attempt begins.
   * An open charge of this order with another request is closed at its gateway first, where
   * that can be cancelled. This field is not part of the comparison with the earlier request.
   */
  replace?: boolean
  /**
   * Charges an order again though it is paid: another payment, for its own `Idempotency-Key`,
   * which it needs. An open payment of the order is returned as it is. This field is not part
   * of the comparison with the earlier request.
   */
  repeat?: boolean
}

export interface Check {
  desc: string
  cmd?: string
  type?: string
  result?: string
  cwd?: string
  timeout?: number
}

export interface CircuitOpenedEvent {
  type: 'CircuitOpened'
  timestamp: string
  /** Once per opening. `kind`: the calls that are not made for now. */
  data: {
    gateway: string
    kind: 'charge' | 'refund' | 'status'
  }
}

export interface ClaimRelease {
  /** A secret of 128 bits that the client makes, as base64url. Only its hash is stored. */
  claim?: string
  /** In place of the claim: a person ends that of somebody else. */
  session?: string
  outcome: 'done' | 'abandoned'
  summary?: string
}

/** Also the check whether it still holds. */
export interface ClaimRenewal {
  /** A secret of 128 bits that the client makes, as base64url. Only its hash is stored. */
  claim: string
  /** Default: its own. */
  ttlMs?: number
  /** What the agent does now; shown with the task. */
  progress?: string
  /** When the agent last showed that it works. Other `progress` shows it, too. */
  activeAt?: string
}

/**
 * The same claim again is answered the same while it is valid, or `already_holding`, where
 * its task is not what is asked for now.
 */
export interface ClaimRequest {
  /** A secret of 128 bits that the client makes, as base64url. Only its hash is stored. */
  claim: string
  /** Who works: the same for all claims of one agent. */
  actor: string
  /** This one. Without it: the next that is free. */
  task?: string
  /** Only a task with this label. */
  label?: string
  /** Only a task with this parent. */
  parent?: string
  /** Only a task of this list of the tool. */
  tag?: string
  /** Tasks of this person count as free, too, with or without `@`. */
  assignee?: string
  /** The linked worktree that the agent works in. */
  tree?: string
  /** How long it holds without a renewal. */
  ttlMs?: number
  /** How many valid claims this actor may hold on this board, with this one. */
  max?: number
  /** Also a task that is not ready. */
  force?: boolean
  client?: string
  model?: string
  branch?: string
}

export interface Claimed {
  task: Task
  /** Rises with each claim of the board, and never repeats. */
  generation: number
  /** Unless it is renewed until then. */
  expiresAt: string
  /** The session that the claim is. */
  session: string
  /** The repository. */
  board: string
  /** It was made before, and is valid. */
  again?: true
}

export interface Delivery {
  id: string
  endpoint: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  lastStatus?: number
  lastError?: string
  nextAttemptAt?: string
  deliveredAt?: string
}

/** An endpoint of the host application to which events are sent again. */
export interface FailingEndpoint {
  endpoint: string
  /** That it did not accept twice or more: 200 stands for more, too. */
  events: number
  /** The first of these events. */
  since: string
  lastStatus?: number
  lastError?: string
  nextAttemptAt: string
}

export interface FailingEndpoints {
  endpoints: FailingEndpoint[]
}

export interface Gateway {
  /** Its key in the configuration. */
  key: string
  /** The name of the driver in the configuration. */
  driver: string
  /**
   * By kind of call: `status` is the check of a payment, and `charge` also its cancellation. A
   * token that cannot be fetched counts for the kind that needed it.
   */
  breaker: {
    charge: {
      /** `probing`: the next call, or the one that runs now, decides whether the circuit closes. */
      state: 'closed' | 'open' | 'probing'
      /** Failed calls in a row. */
      failures: number
      /** What failed in the last of them. */
      lastFailure?: string
      /** While open: no call is made before this time. */
      openUntil?: string
    }
    refund: {
      /** `probing`: the next call, or the one that runs now, decides whether the circuit closes. */
      state: 'closed' | 'open' | 'probing'
      /** Failed calls in a row. */
      failures: number
      /** What failed in the last of them. */
      lastFailure?: string
      /** While open: no call is made before this time. */
      openUntil?: string
    }
    status: {
      /** `probing`: the next call, or the one that runs now, decides whether the circuit closes. */
      state: 'closed' | 'open' | 'probing'
      /** Failed calls in a row. */
      failures: number
      /** What failed in the last of them. */
      lastFailure?: string
      /** While open: no call is made before this time. */
      openUntil?: string
    }
  }
  supportsRefund: boolean
  /**
   * If it does: `full`, only all of a payment, named by the charged amount; `partial`, parts
   * too.
   */
  refunds?: 'full' | 'partial'
  /** It can be asked about one payment. */
  supportsStatusCheck: boolean
  /**
   * So many seconds after its charge, it can also be asked about a payment of which it has
   * given no id: the charge is sent again under our own, which makes no second payment.
   */
  findsLostForS: number
  /** An open payment can be ended, and replaced by another request. */
  supportsCancel: boolean
  /** Missing: the driver takes any. */
  currencies?: readonly string[]
  /** Simulated by a local Signalbox: charges use no real money. */
  isLocal: boolean
}

export interface GatewayTimeoutEvent {
  type: 'GatewayTimeout'
  timestamp: string
  /** A gateway did not answer in time. */
  data: {
    gateway: string
    endpoint: string
    durationMs: number
  }
}

export interface Gateways {
  gateways: Gateway[]
  /** Payments are paused. */
  pause?: Pause
}

export interface HeldClaim {
  /** The id of the task. */
  task: string
  /** Of the task, when the claim began. */
  title: string
  /** Rises with each claim of the board, and never repeats. */
  generation: number
  /** Unless it is renewed until then. */
  expiresAt: string
  /** The session that the claim is. */
  session: string
  /** The repository. */
  board: string
  /**
   * It has ended: by its holder, or with the task, which reads `closed`, or is not there
   * (`deleted`).
   */
  end?: {
    outcome: 'done' | 'abandoned' | 'closed' | 'deleted'
    at: string
  }
  /** Its end may be taken back: it is valid again once the task is there and open. */
  returning?: true
}

/** A board as its sidecar reported it last, at most 30 s after a change. */
export interface ListedBoard {
  path: string
  title: string
  layout: 'cairn' | 'backlog-md' | 'task-master' | 'openspec' | 'kiro' | 'spec-kit' | 'bmad'
  /** What the tool lists: no drafts, and nothing of its archive. */
  counts: {
    tasks: number
    closed: number
    ready: number
  }
  /** Missing: the folder is gone, the data is kept. */
  store: 'present' | 'missing'
  sidecar: {
    /**
     * As of `lastSeenAt`. A sidecar writes it when it begins and ends, and once a day; who reads
     * the status of a board whose sidecar is offline has that written.
     */
    state: 'running' | 'ended' | 'offline'
    /** When this was written, or since when it is offline. */
    lastSeenAt: string
    version: string
  }
  /** When a task last changed, by what the sidecar saw. */
  lastChangeAt?: string
}

/** What an agent last said of a running session. */
export interface Live {
  heartbeatAt: string
  progress?: string
  worktree?: string
}

/** A change: what a client should fetch again. */
export type Message =
  | {
      type: 'task-changed'
      id: string
    }
  | {
      type: 'tasks-changed'
    }
  | {
      type: 'session-changed'
      session: string
    }

/** Up to 4 KiB. It is returned in every event. */
export type Metadata = Record<string, string | number | boolean | null>

/** An amount that was paid or given back. It never changes. */
export interface Movement {
  id: string
  /**
   * `late_paid`: after the payment had ended. `refund_failed`: what was refunded came back.
   * `refused_paid`: of another amount, and refused by the configuration. `disputed`: the
   * payer’s bank has taken it back. `dispute_returned`: the bank has given that back, below 0:
   * both add up to what is still out. The last three are in no sum.
   */
  kind:
    | 'paid'
    | 'late_paid'
    | 'refunded'
    | 'refund_failed'
    | 'refused_paid'
    | 'disputed'
    | 'dispute_returned'
  /** Ours. */
  transactionId: string
  reference: string
  gateway: string
  gatewayTransactionId?: string
  /** The gateway’s, or ours if it gives none. */
  refundId?: string
  /** In major units, such as `-12.50`. */
  amount: string
  /** Signed: what is given back is below 0. */
  amountMinor: number
  currency: string
  /** By our clock: it decides the day. */
  bookedAt: string
  /** By the gateway’s clock, where it told a time. */
  occurredAt: string
  /** Made by an upgrade out of what was known: the time may be another one. */
  estimated?: true
}

export interface MovementDay {
  /** A day of the zone. */
  day: string
  sums: MovementSum[]
}

export interface MovementDays {
  /** Oldest first; a day without any is not listed. */
  days: MovementDay[]
}

/** The movements of one gateway in one currency. */
export interface MovementSum {
  gateway: string
  currency: string
  /** In major units, such as `-12.50`. */
  amount: string
  /** What was paid less what was given back. */
  amountMinor: number
  /** Each by itself, with those that are in no sum. */
  kinds: Partial<
    Record<
      | 'paid'
      | 'late_paid'
      | 'refunded'
      | 'refund_failed'
      | 'refused_paid'
      | 'disputed'
      | 'dispute_returned',
      {
        count: number
        /** In major units, such as `-12.50`. */
        amount: string
        amountMinor: number
      }
    >
  >
}

export interface Movements {
  /** All of them, oldest first. */
  movements: (Movement | Unreadable)[]
  sums: MovementSum[]
}

/** What a person wrote on a payment. */
export interface Note {
  id: string
  text: string
  /** The subject of the token. */
  by: string
  createdAt: string
}

export interface NoteRequest {
  /** It may have several lines. */
  text: string
}

export interface NoticeDelivery {
  /** The `webhook-id` of each of its tries. */
  id: string
  /** When it was decided. */
  at: string
  to: 'webhook' | 'ntfy' | 'slack' | 'mattermost' | 'command'
  /** Of the address: nothing else of it is shown. */
  host?: string
  /** `failed`: it is not tried again. */
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  nextAt?: string
  endedAt?: string
  /** The receiver’s last answer. */
  status?: number
  error?: string
  causes: {
    on:
      | 'stalled'
      | 'silent'
      | 'ready'
      | 'blocked'
      | 'review'
      | 'parent_done'
      | 'offline'
      | 'claim_taken'
    /** When it began, or was first seen. */
    since: string
    /** Its id; of `ready` the next one. */
    task?: string
    title?: string
    actor?: string
    /** Of `ready`: how many tasks are. */
    ready?: number
  }[]
  /** How many causes were left out. */
  more?: number
  test?: true
}

export interface Notices {
  rules: {
    on:
      | 'stalled'
      | 'silent'
      | 'ready'
      | 'blocked'
      | 'review'
      | 'parent_done'
      | 'offline'
      | 'claim_taken'
    minutes: number
    to: 'webhook' | 'ntfy' | 'slack' | 'mattermost' | 'command'
    /** Of the address: nothing else of it is shown. */
    host?: string
    /** Why none of its notices can be delivered. */
    problem?: string
  }[]
  /** The newest 50, newest first. */
  deliveries: NoticeDelivery[]
}

/**
 * The open alert of this payment: a person, or the shop, should look before it goes on. Of
 * several the most urgent, in the order of `kind`. Not one about an event that was not
 * delivered.
 */
export interface OpenAlert {
  id: string
  kind: AlertKind
}

/** What came in, as the gateway reported it. It may differ from what was requested. */
export interface Paid {
  /** Minor units. */
  amount: number
  currency: string
}

/** Nothing new is charged, refunded, cancelled or replaced. */
export interface Pause {
  since: string
  /** The subject of the token. */
  by: string
}

export interface PaymentCancelledEvent {
  type: 'PaymentCancelled'
  timestamp: string
  /** Cancelled or expired: the status of the transaction tells. */
  data: {
    transaction: Transaction
  }
}

/** Why a payment, charge or refund failed. */
export interface PaymentError {
  /** Ours, and stable. */
  code: string
  /** The gateway’s. */
  rawCode?: string
  message: string
}

export interface PaymentFailedEvent {
  type: 'PaymentFailed'
  timestamp: string
  /** The same request starts another attempt. */
  data: {
    transaction: Transaction
  }
}

export interface PaymentInitiatedEvent {
  type: 'PaymentInitiated'
  timestamp: string
  /** Stored before the gateway is called. */
  data: {
    gateway: string
    request: RequestedCharge
    transaction: Transaction
  }
}

export interface PaymentRefundedEvent {
  type: 'PaymentRefunded'
  timestamp: string
  /** All of it or a part: `refundedAmount` tells. */
  data: {
    transaction: Transaction
  }
}

/** The payment as it is, and how to pay it while that is possible. */
export interface PaymentResponse {
  /** `Pending` after a new charge; any status when the same is requested again. */
  status: PaymentStatus
  gateway: string
  reference: string
  /** Ours: what `GET /api/payments/transactions/{id}` takes. */
  transactionId: string
  /** Missing only where the gateway never named it: it refused, say. */
  gatewayTransactionId?: string
  /** Where to send the payer. Missing once the payment cannot be paid there. */
  redirectUrl?: string
  /** The payment can be paid until then. */
  expiresAt?: string
  /** Only while the payment can be paid. */
  qrCode?: string
  /** Only while the payment can be paid. */
  readableCode?: string
  /** Only while the payment can be paid. */
  deepLink?: string
  /** Once it was paid: it may be less than was requested. */
  paid?: Paid
  /** Why it failed. */
  error?: PaymentError
  /**
   * Its page has expired, and the gateway has not reported how it ended. `replace` asks the
   * gateway once more, and begins another attempt.
   */
  isStranded?: true
  /**
   * With `replace`: payments of this order that are open at other gateways, and may be paid
   * there, too. `…/cancel` closes them where that is possible.
   */
  otherOpen?: {
    gateway: string
    transactionId: string
  }[]
  /** This payment’s, or the `late_payment` of another one of this order. */
  alert?: OpenAlert
}

export type PaymentStatus =
  | 'Pending'
  | 'Paid'
  | 'Failed'
  | 'Cancelled'
  | 'Expired'
  | 'Refunded'
  | 'PartiallyRefunded'

export interface PaymentSucceededEvent {
  type: 'PaymentSucceeded'
  timestamp: string
  /** Compare `paid` with the price, then deliver. */
  data: {
    transaction: Transaction
  }
}

export interface Problem {
  /** A sentence for people. It may change. */
  error: string
  /** Stable: programs decide by it. */
  code:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'bad_since'
    | 'bad_limit'
    | 'unauthorized'
    | 'code_spent'
    | 'forbidden'
    | 'bad_origin'
    | 'bad_host'
    | 'not_found'
    | 'unknown_repository'
    | 'unknown_task'
    | 'unknown_session'
    | 'unknown_transaction'
    | 'unknown_alert'
    | 'unknown_delivery'
    | 'unknown_event'
    | 'unknown_claim'
    | 'unknown_rule'
    | 'nothing_ready'
    | 'sync_required'
    | 'superseded'
    | 'published'
    | 'stale_batch'
    | 'wire_version'
    | 'in_progress'
    | 'idempotency_conflict'
    | 'reference_conflict'
    | 'already_paid'
    | 'not_cancellable'
    | 'too_late'
    | 'claimed'
    | 'closed'
    | 'not_ready'
    | 'already_holding'
    | 'paused'
    | 'parent_taken'
    | 'board_full'
    | 'claim_lost'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'gateway_refused'
    | 'refund_failed'
    | 'upgrade_required'
    | 'too_many_claims'
    | 'too_many_sidecars'
    | 'internal'
    | 'not_configured'
    | 'misconfigured'
    | 'console_not_built'
    | 'keys_unavailable'
    | 'sessions_unavailable'
    | 'directory_full'
    | 'gateway_unavailable'
    | 'ledger_unavailable'
    | 'schema_mismatch'
    | 'other_database'
  /** A payment is stored: what became of it can be looked up. */
  transactionId?: string
  /** At a claim: who holds the task. */
  by?: string
  /** At a claim: since when. */
  since?: string
  /** At a claim: until when, unless it is renewed. */
  expiresAt?: string
  /** At a claim: the task that the actor holds. */
  task?: string
  /** The generation of the claim that is lost. */
  generation?: number
}

export interface Provenance {
  who: string
  at: string
  did: string
  text?: string
}

export interface RaisedAlert {
  id: string
  kind: AlertKind
  gateway: string
  /** Ours. Empty if it is not known. */
  transactionId: string
  detail: AlertDetail
  createdAt: string
}

export interface Redelivering {
  redelivering: true
}

export interface Refund {
  id: string
  amount: number
  reason: string
  status: 'claimed' | 'accepted' | 'succeeded' | 'failed'
  gatewayRefundId?: string
  /** The subject that asked for it. Missing: nobody here, or in process. */
  askedBy?: string
  error?: PaymentError
  correlationId?: string
  createdAt: string
  updatedAt: string
}

export interface RefundAmountChangedEvent {
  type: 'RefundAmountChanged'
  timestamp: string
  /**
   * `refundedAmount` changed and the status did not: another part was refunded, a refund has
   * failed, or late money went back. Ignore one with a lower `refundRevision` than you have.
   */
  data: {
    transaction: Transaction
    /** Minor units. */
    previousRefundedAmount: number
  }
}

export interface RefundRequest {
  /** Ours, or the gateway’s. */
  transactionId: string
  /** Minor units. For a gateway that refunds only in full: what was charged. */
  amount: number
  reason: string
  /** Key of the configuration, such as `redirect`. */
  gateway: string
}

export interface RefundResult {
  /** The gateway took it. A bank that refunds by hand may take days until `Refunded`. */
  success: boolean
  /** The gateway’s id of it, or ours if it gives none. */
  refundId: string
  /** What this refund returns, in minor units. */
  refundedAmount: number
}

export interface Reopened {
  acknowledged: false
}

export interface RequestedCharge {
  /** Key of the configuration, such as `redirect`. */
  gateway: string
  /** Your id of the order. Repeating the charge of an order is safe: it cannot be paid twice. */
  reference: string
  /** Minor units: IQD 25,000 is 25000, USD 12.50 is 1250. */
  amount: number
  currency: string
  /** The text that the payer sees. */
  description: string
  /** The page that the payer returns to; overrides the configured one. */
  returnUrl?: string
  /**
   * The page for a payer who does not pay; overrides the configured one. Without both, it is
   * `returnUrl`.
   */
  cancelUrl?: string
  /** Sent to the gateway, and not stored. */
  customerPhone?: string
  metadata?: Metadata
}

export interface Resumed {
  resumed: true
}

/** One run of the checks of a task, from its log file. */
export interface Run {
  file: string
  at?: string
  cmd?: string
  cwd?: string
  head?: string
  /** Missing where the log could not be read. */
  exit?: number
  timedout: boolean
  duration?: string
  /** Cut at 512 KiB with a last line that says so. */
  output?: string
  /** The linked worktree of git in which it is; absent: the main tree. */
  tree?: string
  /** Why the file could not be read whole, in one sentence. It stays listed. */
  invalid?: string
}

export interface Runs {
  /** Newest first. */
  runs: Run[]
}

export interface Session {
  id: string
  task: string
  attempt: string
  actor: string
  client?: string
  model?: string
  status: string
  startedAt: string
  /**
   * The last sign that somebody works: of a claim what a renewal says, else the heartbeat.
   * Absent: there was none since the start.
   */
  activeAt?: string
  endedAt?: string
  branch?: string
  headStarted?: string
  headFinished?: string
  summary?: string
  cancelReason?: string
  health: 'active' | 'stalled' | 'finished' | 'canceled'
  live?: Live
  /** The session is a claim of `POST /api/claims`, and in no file. */
  claim?: {
    /** Rises with each claim of the board. */
    generation: number
    /** Unless it is renewed until then. */
    expiresAt: string
  }
  /** The linked worktree of git in which it is; absent: the main tree. */
  tree?: string
  /** Why the file could not be read whole, in one sentence. It stays listed. */
  invalid?: string
}

export interface Sessions {
  /** Newest first; in any order with `since`. */
  sessions: Session[]
  /** With `since`: ids of what changed and is not in the list now, known before or not. */
  gone?: string[]
  /** With `since`: this is the whole list, since too much has changed, or the place is too old. */
  whole?: true
  /** With `since`: the place to go on from. */
  seq?: string
}

export interface Settled {
  rows: {
    /**
     * The first that is so. `paid_there`, `refunded_there`: not here. `refund_failed`: it came
     * back there, and not here. `refused_paid`: paid, and refused here for its amount. `late`:
     * paid, or refunded, after it had ended, and a part is still here. `twice`: each movement
     * here has another row.
     */
    as:
      | 'unknown_word'
      | 'not_ours'
      | 'other_currency'
      | 'other_amount'
      | 'paid_there'
      | 'refunded_there'
      | 'refund_failed'
      | 'refused_paid'
      | 'late'
      | 'twice'
      | 'same'
    /** Ours. */
    transactionId?: string
    gatewayTransactionId?: string
    reference?: string
    status?: PaymentStatus
    /** What we have: what was booked, else requested; of a refund, its own. */
    amount?: number
    currency?: string
    /** Ours. */
    refundId?: string
    /**
     * The movement that it agrees with. Rows of one payment that are asked about in several
     * requests may get the same one: it counts once.
     */
    movementId?: string
    /** Further movements, of a row that has their sum. */
    moreMovementIds?: string[]
  }[]
}

export interface SettledAlert {
  id: string
  kind: AlertKind
  gateway: string
  /** Ours. Empty if it is not known. */
  transactionId: string
  detail: AlertDetail
  createdAt: string
  acknowledgedAt: string
  /**
   * The subject of a person’s token; `refund`: the payment was refunded; `gateway`: it has
   * reported money, or an end, or that of a dispute; `capture`: all of it was captured;
   * `delivery`: the endpoint accepts events again.
   */
  acknowledgedBy: string
  /** The gateway’s id of what was done about it, such as a refund by hand. */
  gatewayReference?: string
}

export interface Settlement {
  /** Key of the configuration. */
  gateway: string
  rows: {
    /** `refund_failed`: a refund came back. `unknown_word`: it agrees with nothing. */
    type: 'payment' | 'refund' | 'refund_failed' | 'unknown_word'
    /** The gateway’s id of the payment; of a refund its own does, too. */
    id?: string
    /** Our id of it, or its external reference. */
    ours?: string
    /** The host application’s; it counts only with the amount. */
    reference?: string
    /** The gateway’s id of the refund. */
    refund?: string
    /** Minor units. */
    amount: number
    currency: string
  }[]
}

export type SignIn =
  | {
      /** A token that was made before. */
      token: string
    }
  | {
      /** The code of a one-time link, as `signalbox sign-in` prints it. */
      code: string
    }

export interface SignedIn {
  /** Who acts: the `sub` of the token, else `token` and its `jti` or part of its hash. */
  subject: string
  scopes: string[]
  /** Exact, or ending in `*`. It limits the scopes of boards. */
  repos: string[]
  expiresAt: string
  /** `DELETE` ends it everywhere. False for a token, which is valid until it expires. */
  canBeEnded: boolean
}

/** A durable event with its deliveries. */
export interface StoredEvent {
  id: string
  type:
    | 'PaymentInitiated'
    | 'PaymentSucceeded'
    | 'PaymentFailed'
    | 'PaymentCancelled'
    | 'PaymentRefunded'
    | 'RefundAmountChanged'
    | 'AlertRaised'
    | 'AlertSettled'
  /** All other types: the transaction alone. */
  payload:
    | {
        gateway: string
        request: RequestedCharge
        transaction: Transaction
      }
    | {
        alert: SettledAlert
        transaction: Transaction
      }
    | {
        alert: RaisedAlert
        transaction: Transaction
      }
    | {
        transaction: Transaction
        /** Minor units. */
        previousRefundedAmount: number
      }
    | {
        transaction: Transaction
      }
  createdAt: string
  /** When the listeners in process had accepted it. */
  listenersDoneAt?: string
  deliveries: Delivery[]
}

export interface SweepReport {
  /** Nothing was due, and the ledger was not called. */
  isIdle: boolean
  /** Stored events that all subscribers accepted. */
  delivered: number
  /** Stored events that failed for at least one subscriber. */
  undelivered: number
  /** Payments that their gateway was asked about. */
  checked: number
  /** Those whose status changed. */
  moved: number
  /** Those whose charge was sent again, and was answered. */
  chargedAgain: number
  /** Those whose gateway did not answer. */
  unreachable: number
  alerts: number
  /** Old webhook events that were deleted. */
  forgotten: number
  /** Parts that failed because of a bug or the database. */
  failed: number
}

export type SyncAnswer =
  | {
      step: 'probe'
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'root'
      run: number
      epoch: string
      match: boolean
      /** What clients see of the store. */
      store: 'present' | 'missing'
      /** What was last sent to the edge of it. */
      main?: {
        head: string
        branch?: string
      }
      /** `GET /api/sidecar` takes a socket, which is held in place of reports. */
      socket?: true
      /** `GET /api/notices/due` has commands for this sidecar. */
      notices?: true
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'buckets'
      differ: number[]
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'entries'
      lack: string[]
      dropped: number
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'end'
      /** The version of the publishing protocol. */
      wire: 3
    }

export type SyncRequest =
  | {
      step: 'probe'
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'root'
      /** Null asks for a new run, which every later message carries. */
      run: number | null
      /** The XOR of all record hashes. */
      root: string
      store: {
        /** `bare`: without the file or folder of its tasks, as if it never had one. */
        state: 'present' | 'missing' | 'bare'
        layout?: 'cairn' | 'backlog-md' | 'task-master' | 'openspec' | 'kiro' | 'spec-kit' | 'bmad'
        /** The version of the sidecar. */
        version: string
        /** Its watcher has failed: changes are found by scans, each second or later. */
        unwatched?: true
      }
      /** Rules of notices; absent: as they were. A command has a name, and stays here. */
      notices?: {
        on:
          | 'stalled'
          | 'silent'
          | 'ready'
          | 'blocked'
          | 'review'
          | 'parent_done'
          | 'offline'
          | 'claim_taken'
        minutes?: number
        to: {
          webhook?: string
          ntfy?: string
          slack?: string
          mattermost?: string
          command?: string
        }
      }[]
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'buckets'
      run: number
      /** The sums of the 256 buckets. */
      buckets: string[]
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'entries'
      run: number
      batch: number
      /** Bucket number → every key of that bucket with its hash. */
      buckets: Record<string, Record<string, string>>
      /** Further `entries` messages of this sync follow. */
      more: boolean
      /** Where git has the main tree. Absent: it is as it was, or nothing is known of it. */
      main?: {
        head: string
        branch?: string
        /** Since it was last sent: another branch, no later commit, or away and back. */
        switched?: true
        /** Of a switch: where that branch is, if not as last sent, or where it was. */
        from?: string
      }
      /** The version of the publishing protocol. */
      wire: 3
    }
  | {
      step: 'end'
      run: number
      /** The version of the publishing protocol. */
      wire: 3
    }

/** Times are RFC 3339, UTC. Lists leave out `body`, `provenance`, `checks`, `extra`. */
export interface Task {
  id: string
  title: string
  status: string
  assignee?: string
  /** All of them, `assignee` first; only where a task has more than one. */
  assignees?: string[]
  /** Ids of the tasks that must be closed before this one is `ready`. */
  deps?: string[]
  /**
   * Not closed, not `held`, and every dep is closed. So it stays true of a task that somebody
   * has begun.
   */
  ready: boolean
  /**
   * Nobody is to begin it, whatever its deps: its tool lets nobody (a draft, a deferred task,
   * a change with a list of tasks), it is `invalid`, or only `trees` have it.
   */
  held?: true
  /** Two tasks have this id, so it is `invalid`: nobody can say which one is meant. */
  sharesId?: true
  /**
   * A claim of it was released as done: for 24 hours, or until a copy of it changed and is
   * open there, nobody is offered it.
   */
  done?: {
    at: string
    /** The actor. */
    by: string
    session: string
    /** What the actor said of it. */
    summary?: string
  }
  updatedAt?: string
  rank?: number
  labels?: string[]
  priority?: string
  parent?: string
  /** In a checklist, the task that it is indented under, or numbered below. */
  partOf?: string
  /** What it is part of is done without it. */
  optional?: true
  /** In a checklist: its id is of its text, so another text is another id. */
  unnumbered?: true
  /** Where it stands, below the project’s folder. With `inMain: false`: of a tree. */
  file?: string
  /** Where the tool keeps what is not on its board: `drafts`, `completed`, `archive`. */
  folder?: string
  /** The list of the tool that it belongs to. */
  tag?: string
  /** By its title, where the tool gives it one. */
  milestone?: string
  /** A day, without a time zone: `YYYY-MM-DD`. */
  dueDate?: string
  type?: string
  /** As the tool estimates it. */
  complexity?: number
  activeAttempt?: string
  executionState?: 'active' | 'stalled' | 'awaiting_review'
  sessionId?: string
  /**
   * The linked worktrees that changed the task, where one did: against the main tree, and
   * against what both have in common. Every other field is the main tree’s.
   */
  trees?: {
    /** Its name in `worktrees/` of the repository. */
    tree: string
    branch?: string
    /** Its top folder. */
    dir: string
    status?: string
    title?: string
    updatedAt?: string
    /** It took the task out. */
    gone?: true
    /** Its file cannot be read there, as in the middle of a merge: it counts as begun. */
    invalid?: true
  }[]
  /** Only `trees` have the task: its fields are those of the newest copy. */
  inMain?: false
  /** With `inMain: false`: the main tree had it, and has deleted it since. */
  deletedInMain?: true
  checks?: Check[]
  provenance?: Provenance[]
  /** Fields of the file that Signalbox does not know, as they stand there. */
  extra?: Record<string, unknown>
  /** Markdown; cut at 512 KiB with a last line that says so. */
  body?: string
  /** Why the file could not be read whole, in one sentence. It stays listed. */
  invalid?: string
}

/** A task with its runs and sessions. */
export interface TaskDetail {
  id: string
  title: string
  status: string
  assignee?: string
  /** All of them, `assignee` first; only where a task has more than one. */
  assignees?: string[]
  /** Ids of the tasks that must be closed before this one is `ready`. */
  deps?: string[]
  /**
   * Not closed, not `held`, and every dep is closed. So it stays true of a task that somebody
   * has begun.
   */
  ready: boolean
  /**
   * Nobody is to begin it, whatever its deps: its tool lets nobody (a draft, a deferred task,
   * a change with a list of tasks), it is `invalid`, or only `trees` have it.
   */
  held?: true
  /** Two tasks have this id, so it is `invalid`: nobody can say which one is meant. */
  sharesId?: true
  /**
   * A claim of it was released as done: for 24 hours, or until a copy of it changed and is
   * open there, nobody is offered it.
   */
  done?: {
    at: string
    /** The actor. */
    by: string
    session: string
    /** What the actor said of it. */
    summary?: string
  }
  updatedAt?: string
  rank?: number
  labels?: string[]
  priority?: string
  parent?: string
  /** In a checklist, the task that it is indented under, or numbered below. */
  partOf?: string
  /** What it is part of is done without it. */
  optional?: true
  /** In a checklist: its id is of its text, so another text is another id. */
  unnumbered?: true
  /** Where it stands, below the project’s folder. With `inMain: false`: of a tree. */
  file?: string
  /** Where the tool keeps what is not on its board: `drafts`, `completed`, `archive`. */
  folder?: string
  /** The list of the tool that it belongs to. */
  tag?: string
  /** By its title, where the tool gives it one. */
  milestone?: string
  /** A day, without a time zone: `YYYY-MM-DD`. */
  dueDate?: string
  type?: string
  /** As the tool estimates it. */
  complexity?: number
  activeAttempt?: string
  executionState?: 'active' | 'stalled' | 'awaiting_review'
  sessionId?: string
  /**
   * The linked worktrees that changed the task, where one did: against the main tree, and
   * against what both have in common. Every other field is the main tree’s.
   */
  trees?: {
    /** Its name in `worktrees/` of the repository. */
    tree: string
    branch?: string
    /** Its top folder. */
    dir: string
    status?: string
    title?: string
    updatedAt?: string
    /** It took the task out. */
    gone?: true
    /** Its file cannot be read there, as in the middle of a merge: it counts as begun. */
    invalid?: true
  }[]
  /** Only `trees` have the task: its fields are those of the newest copy. */
  inMain?: false
  /** With `inMain: false`: the main tree had it, and has deleted it since. */
  deletedInMain?: true
  checks?: Check[]
  provenance?: Provenance[]
  /** Fields of the file that Signalbox does not know, as they stand there. */
  extra?: Record<string, unknown>
  /** Markdown; cut at 512 KiB with a last line that says so. */
  body?: string
  /** Why the file could not be read whole, in one sentence. It stays listed. */
  invalid?: string
  /** Newest first. */
  runs: Run[]
  /** Newest first; in any order with `since`. */
  sessions: Session[]
}

export interface Tasks {
  /** In the order of their ids. */
  tasks: Task[]
  /** With `limit`: there are more, `after=` it. */
  next?: string
  /** With `since`: ids of what changed and is not in the list now, known before or not. */
  gone?: string[]
  /** With `since`: this is the whole list, since too much has changed, or the place is too old. */
  whole?: true
  /** With `since`: the place to go on from. */
  seq?: string
}

export interface Ticket {
  /** For `?ticket=` of `GET /api/events`. */
  ticket: string
  path: string
  expiresAt: string
}

/** One attempt to be paid. */
export interface Transaction {
  id: string
  /** Key of the configuration. */
  gateway: string
  /** The host application’s own name for what is paid. */
  reference: string
  attempt: number
  /** Begun with `repeat`: another payment of an order that may be paid. */
  isRepeat?: true
  /** Missing until the gateway has answered. */
  gatewayTransactionId?: string
  /** Our id of it at the gateway; the same however often a charge is repeated. */
  externalReferenceId: string
  status: PaymentStatus
  /** Minor units: what was requested. */
  amount: number
  currency: string
  /**
   * Part of what was paid, in its currency: the sum of the refunds that the gateway has made.
   * If one fails later it is less, and the status stays.
   */
  refundedAmount: number
  /** Rises with each change of `refundedAmount`: of two events, the lower is older. */
  refundRevision: number
  description?: string
  metadata?: Metadata
  redirectUrl?: string
  expiresAt?: string
  correlationId?: string
  error?: PaymentError
  createdAt: string
  updatedAt: string
  paidAt?: string
  paid?: Paid
  alert?: OpenAlert
}

/**
 * One payment with its webhook events, refunds, events, alerts, notes, and who asked for
 * what. Oldest first.
 */
export type TransactionStory =
  | {
      id: string
      /** Key of the configuration. */
      gateway: string
      /** The host application’s own name for what is paid. */
      reference: string
      attempt: number
      /** Begun with `repeat`: another payment of an order that may be paid. */
      isRepeat?: true
      /** Missing until the gateway has answered. */
      gatewayTransactionId?: string
      /** Our id of it at the gateway; the same however often a charge is repeated. */
      externalReferenceId: string
      status: PaymentStatus
      /** Minor units: what was requested. */
      amount: number
      currency: string
      /**
       * Part of what was paid, in its currency: the sum of the refunds that the gateway has made.
       * If one fails later it is less, and the status stays.
       */
      refundedAmount: number
      /** Rises with each change of `refundedAmount`: of two events, the lower is older. */
      refundRevision: number
      description?: string
      metadata?: Metadata
      redirectUrl?: string
      expiresAt?: string
      correlationId?: string
      error?: PaymentError
      createdAt: string
      updatedAt: string
      paidAt?: string
      paid?: Paid
      alert?: OpenAlert
      /** It is open but cannot be paid: a charge with `replace` resolves it. */
      isStranded: boolean
      /** What may be asked for of it now. While payments are paused, only a check. */
      can: {
        /** Minor units: the most that can be refunded. 0: nothing, for now. */
        refund: number
        /** Its gateway can be asked about it. */
        check: boolean
        /** It is open, and its gateway or we can end it. */
        cancel: boolean
      }
      /** When the gateway was last asked about it, what it said, and when it is asked next. */
      check: {
        lastAt?: string
        /** `unknown`: the gateway does not have it. `unreachable`: it did not answer. */
        lastStatus?:
          | 'Pending'
          | 'Paid'
          | 'Failed'
          | 'Cancelled'
          | 'Expired'
          | 'Refunded'
          | 'PartiallyRefunded'
          | 'unknown'
          | 'unreachable'
        /** Missing: nothing of it is open any more. */
        nextAt?: string
      }
      webhookEvents: (WebhookEvent | Unreadable)[]
      refunds: (Refund | Unreadable)[]
      events: (StoredEvent | Unreadable)[]
      alerts: (Alert | Unreadable)[]
      audit: (AuditRecord | Unreadable)[]
      notes: (Note | Unreadable)[]
    }
  | {
      id: string
      code: 'unreadable'
      /** A sentence that says what is invalid. */
      invalid: string
      /** It is open but cannot be paid: a charge with `replace` resolves it. */
      isStranded: boolean
      /** What may be asked for of it now. While payments are paused, only a check. */
      can: {
        /** Minor units: the most that can be refunded. 0: nothing, for now. */
        refund: number
        /** Its gateway can be asked about it. */
        check: boolean
        /** It is open, and its gateway or we can end it. */
        cancel: boolean
      }
      /** When the gateway was last asked about it, what it said, and when it is asked next. */
      check: {
        lastAt?: string
        /** `unknown`: the gateway does not have it. `unreachable`: it did not answer. */
        lastStatus?:
          | 'Pending'
          | 'Paid'
          | 'Failed'
          | 'Cancelled'
          | 'Expired'
          | 'Refunded'
          | 'PartiallyRefunded'
          | 'unknown'
          | 'unreachable'
        /** Missing: nothing of it is open any more. */
        nextAt?: string
      }
      webhookEvents: (WebhookEvent | Unreadable)[]
      refunds: (Refund | Unreadable)[]
      events: (StoredEvent | Unreadable)[]
      alerts: (Alert | Unreadable)[]
      audit: (AuditRecord | Unreadable)[]
      notes: (Note | Unreadable)[]
    }

export interface TransactionsPage {
  transactions: (Transaction | Unreadable)[]
  /** Begins the next page, if there may be one. */
  cursor?: string
}

/**
 * What a list shows for an invalid row, such as one with an impossible time: only this row
 * fails, and the list shows that it exists.
 */
export interface Unreadable {
  id: string
  code: 'unreadable'
  /** A sentence that says what is invalid. */
  invalid: string
}

/** A verified webhook of a gateway. */
export interface WebhookEvent {
  id: string
  gateway: string
  /** The gateway’s: the same for every delivery of one event. */
  eventId: string
  gatewayTransactionId?: string
  externalReferenceId?: string
  reference?: string
  /** Ours. Missing while it is parked. */
  transactionId?: string
  fromStatus?: PaymentStatus
  toStatus: PaymentStatus
  amount: number
  currency: string
  isMismatch: boolean
  outcome: 'applied' | 'unchanged' | 'illegal' | 'rejected' | 'parked' | 'late_payment'
  error?: PaymentError
  /** What the gateway sent, masked. */
  raw?: unknown
  /** In place of `raw`, which would be too much here: the event by itself has it. */
  rawBytes?: number
  correlationId?: string
  occurredAt: string
  receivedAt: string
}

export interface WebhookEventsPage {
  webhookEvents: (WebhookEvent | Unreadable)[]
  /** Begins the next page, if there may be one. */
  cursor?: string
}

export interface WebhookPayload {
  /** Key of the configuration. */
  gateway: string
  gatewayTransactionId: string
  /**
   * `gatewayTransactionId` is not the id of the charge, but of another kind, such as a
   * PaymentIntent of Stripe: it is compared with nothing.
   */
  isOtherId?: true
  /** The host application’s; empty if the gateway does not send it. */
  reference: string
  /** Our id of it at the gateway, if the gateway sends it back. */
  externalReferenceId?: string
  status: PaymentStatus
  /** With `Pending`: the payer is done with the page, and it can no longer be paid. */
  isPageClosed?: true
  /**
   * Minor units. With `Refunded` and `PartiallyRefunded`: all that was refunded so far, as the
   * gateway counts it; otherwise what was paid.
   */
  amount: number
  currency: string
  /** The same for every delivery of one event. */
  eventId: string
  /** The time of the event or of this delivery, never of the payment. */
  occurredAt: string
  /** On a failure. */
  error?: PaymentError
  /** A person should look, and nothing moves: `status` is where the payment stays. */
  alert?: 'refund_failed' | 'dispute'
  /** Which refund failed, by our id or else the gateway’s. Missing: the one under way. */
  refundId?: string
  /** What the gateway sent, masked. Missing where it sent nothing. */
  raw?: unknown
}

export interface WebhookRates {
  /** The start of the first minute. */
  from: string
  /** The end of the last minute, which is not over yet. */
  to: string
  /** Oldest first; a minute without an event is not listed. */
  minutes: {
    /** The start of the minute. */
    at: string
    /** The number of events in this minute, by their current outcome. */
    outcomes: Partial<
      Record<'applied' | 'unchanged' | 'illegal' | 'rejected' | 'parked' | 'late_payment', number>
    >
  }[]
  /** Webhooks that were not stored. In a flood, some are counted late. */
  refused: {
    /** The start of the minute. */
    at: string
    gateway: string
    /** `invalid`: a wrong signature. `stale`: an old or impossible time. `error`: not readable. */
    reason: 'invalid' | 'stale' | 'error'
    count: number
  }[]
  /**
   * They are counted in memory since this time, for a day: since the start of the process; on
   * Cloudflare since the first one, for all Workers together.
   */
  refusedSince: string
}

export interface WebhookReceivedEvent {
  type: 'WebhookReceived'
  timestamp: string
  /** A verified webhook came, a duplicate too. */
  data: {
    payload: WebhookPayload
  }
}

export interface WebhookVerificationFailedEvent {
  type: 'WebhookVerificationFailed'
  timestamp: string
  /** A webhook whose signature or token is wrong. */
  data: {
    gateway: string
    reason: string
    /** Sensitive ones are redacted. */
    headers: Record<string, string>
  }
}

/** The payload of each event of payments. */
export interface PaymentEvents {
  PaymentInitiated: PaymentInitiatedEvent['data']
  PaymentSucceeded: PaymentSucceededEvent['data']
  PaymentFailed: PaymentFailedEvent['data']
  PaymentCancelled: PaymentCancelledEvent['data']
  PaymentRefunded: PaymentRefundedEvent['data']
  RefundAmountChanged: RefundAmountChangedEvent['data']
  AlertRaised: AlertRaisedEvent['data']
  AlertSettled: AlertSettledEvent['data']
  WebhookReceived: WebhookReceivedEvent['data']
  WebhookVerificationFailed: WebhookVerificationFailedEvent['data']
  GatewayTimeout: GatewayTimeoutEvent['data']
  CircuitOpened: CircuitOpenedEvent['data']
}

/** The codes of the failures of each operation. */
export interface FailureCodes {
  createCharge:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'already_paid'
    | 'idempotency_conflict'
    | 'in_progress'
    | 'reference_conflict'
    | 'payload_too_large'
    | 'gateway_refused'
    | 'invalid_argument'
    | 'internal'
    | 'gateway_unavailable'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'paused'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  createRefund:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'idempotency_conflict'
    | 'in_progress'
    | 'payload_too_large'
    | 'gateway_refused'
    | 'invalid_argument'
    | 'refund_failed'
    | 'internal'
    | 'gateway_unavailable'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'paused'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  listTransactions:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  getTransaction:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_transaction'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  checkTransaction:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_transaction'
    | 'in_progress'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'gateway_unavailable'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  cancelTransaction:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_transaction'
    | 'in_progress'
    | 'not_cancellable'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'gateway_unavailable'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'paused'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  listWebhookEvents:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  getWebhookEvent:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_event'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  getWebhookRates:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listFailingEndpoints:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listGateways:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listAlerts:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listAudit:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listMovements:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  listMovementDays:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
  reconcile:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  acknowledgeAlert:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_alert'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  reopenAlert:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_alert'
    | 'too_late'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  createNote:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_transaction'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  redeliver:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_delivery'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  sendAll:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'payload_too_large'
    | 'invalid_argument'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  pausePayments:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  resumePayments:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'ledger_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'other_database'
    | 'schema_mismatch'
    | 'sessions_unavailable'
  sweep:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  receiveWebhook: 'misconfigured'
  receiveCallback: 'misconfigured'
  streamEvents:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  createTicket:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  listTasks:
    | 'bad_limit'
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  getTask:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'unknown_task'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  listRunsOfTask:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'unknown_task'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  listSessionsOfTask:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'unknown_task'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  listSessions:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  getWorkSession:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'unknown_session'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  listActivity:
    | 'bad_limit'
    | 'bad_since'
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  getStatus:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  listBoards:
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  forgetBoard:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_repository'
    | 'published'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  reportBoard:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'superseded'
    | 'wire_version'
    | 'payload_too_large'
    | 'internal'
    | 'directory_full'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  attachSidecar:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'sync_required'
    | 'upgrade_required'
    | 'too_many_sidecars'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  sync:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'stale_batch'
    | 'superseded'
    | 'sync_required'
    | 'wire_version'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  publishChanges:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'stale_batch'
    | 'superseded'
    | 'sync_required'
    | 'wire_version'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  claimTask:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'not_found'
    | 'nothing_ready'
    | 'unknown_repository'
    | 'already_holding'
    | 'board_full'
    | 'claimed'
    | 'closed'
    | 'not_ready'
    | 'parent_taken'
    | 'paused'
    | 'claim_lost'
    | 'payload_too_large'
    | 'too_many_claims'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  renewClaim:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_claim'
    | 'unknown_repository'
    | 'claim_lost'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  releaseClaim:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_claim'
    | 'unknown_repository'
    | 'claim_lost'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  getBoardSettings:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  setBoardSettings:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_repository'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  listNotices:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'unknown_repository'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  testNotice:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_rule'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  listDueCommands:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'forbidden'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  endDueCommand:
    | 'invalid_path'
    | 'invalid_request'
    | 'unknown_filter'
    | 'unauthorized'
    | 'bad_origin'
    | 'forbidden'
    | 'unknown_delivery'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  callMcp:
    | 'unauthorized'
    | 'bad_host'
    | 'bad_origin'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  signIn:
    | 'invalid_request'
    | 'code_spent'
    | 'unauthorized'
    | 'bad_origin'
    | 'payload_too_large'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  getSession:
    | 'invalid_request'
    | 'unauthorized'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
  signOut:
    | 'invalid_request'
    | 'unauthorized'
    | 'bad_origin'
    | 'internal'
    | 'keys_unavailable'
    | 'misconfigured'
    | 'not_configured'
    | 'sessions_unavailable'
  getDocument: 'invalid_request' | 'internal' | 'misconfigured'
}
