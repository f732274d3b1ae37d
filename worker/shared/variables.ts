// The variables of the edge, each once. Those of gateways are in their drivers, those of the
// command line in its options.

interface Variable {
  /** May be in a file that NAME_FILE names. */
  isSecret?: true
  /** A local system passes it on to its edge. Of the others it has its own. */
  isPassedOn?: true
}

const SECRET = { isSecret: true } as const
const PASSED_ON = { isPassedOn: true } as const

/** Each is a whole number. */
export const LIMITS = {
  MAX_STREAMS: PASSED_ON,
  MAX_BOARDS: PASSED_ON,
  MAX_PROCESS_STREAMS: PASSED_ON,
  MAX_SUBJECT_STREAMS: PASSED_ON,
  MAX_OPEN_REPOSITORIES: PASSED_ON,
  SILENCE_SECONDS: PASSED_ON,
} satisfies Record<string, Variable>

export const VARIABLES: Readonly<Record<string, Variable>> = {
  ...LIMITS,
  AUTH_SECRETS: SECRET,
  AUTH_JWKS_URL: PASSED_ON,
  AUTH_ISSUER: PASSED_ON,
  // The tokens of local.json and of links are for the default one.
  AUTH_AUDIENCE: {},
  LIBSQL_URL: {},
  LIBSQL_AUTH_TOKEN: SECRET,
  ALLOWED_ORIGINS: PASSED_ON,
  SIGNALBOX_PUBLIC_URL: PASSED_ON,
  SILENT_AFTER: PASSED_ON,
  NOTICE_SECRET: { isSecret: true, isPassedOn: true },
  METRICS_HOST: {},
  METRICS_PORT: PASSED_ON,
  PAYMENT_PUBLIC_URL: PASSED_ON,
  PAYMENT_TOLERANCE_SECONDS: PASSED_ON,
  PAYMENT_ON_AMOUNT_MISMATCH: PASSED_ON,
  PAYMENT_EVENT_KEYS_DAYS: PASSED_ON,
  PAYMENT_SIMULATOR_URL: PASSED_ON,
  PAYMENT_INSTALLATION: PASSED_ON,
  PAYMENT_EVENTS_URL: PASSED_ON,
  PAYMENT_EVENTS_SECRET: { isSecret: true, isPassedOn: true },
  PAYMENT_EVENTS_TYPES: PASSED_ON,
  PAYMENT_LEDGER_LOCATION: PASSED_ON,
}
