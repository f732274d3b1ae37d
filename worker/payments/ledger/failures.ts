// How the ledger fails.

import { PaymentFailure } from '../domain/exceptions.ts'

/** The database could not be reached for longer than a caller waits. */
export class LedgerUnavailable extends PaymentFailure {
  override readonly name: string = 'LedgerUnavailable'
  readonly code = 'ledger_unavailable'

  /** `why`: for the log. */
  constructor(
    why: string,
    options: { cause?: unknown; transactionId?: string } = {},
    sentence = 'The database of payments cannot be reached.',
  ) {
    const cause = options.cause === undefined ? why : `${why}: ${options.cause}`
    super(sentence, { ...options, cause })
  }
}

/** The database answers, and not us: with another token or address it would. Nothing was done. */
export class LedgerRefused extends LedgerUnavailable {
  override readonly name = 'LedgerRefused'

  /** `why`: a clause. */
  constructor(why: string) {
    super(why, {}, `The database of payments refuses this host: ${why}.`)
  }
}

/** The database has another schema than this version of the code; nothing was written. */
export class SchemaMismatch extends PaymentFailure {
  override readonly name = 'SchemaMismatch'
  readonly code = 'schema_mismatch'

  override get why(): unknown {
    return this.message
  }
}

/** It is not the database that it was, or is to be; nothing was written. */
export class OtherDatabase extends PaymentFailure {
  override readonly name = 'OtherDatabase'
  readonly code = 'other_database'
  readonly #why: string

  /** `why`: a clause. */
  constructor(why: string) {
    super(`The database of payments is another one: ${why}.`)
    this.#why = why
  }

  override get why(): string {
    return this.#why
  }
}

/** The rows are not what is stored now: load them and decide again. */
export class StaleRows extends Error {
  override readonly name = 'StaleRows'
  readonly code = 'stale_rows'
}
