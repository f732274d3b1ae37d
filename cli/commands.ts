// Every command of `signalbox`: its name, its options and its help. What it does is in the
// module that checkout.ts or package.ts loads for it.

import type { Option, OptionName } from './options.ts'

export interface Definition {
  /** The argument before the options. Absent: none. */
  argument?: { name: string; help: string }
  /** The text after the name in the first line of the help. */
  usage: string
  /** One line, for the list of commands. */
  summary: string
  /** For the command's own help. */
  description: string
  options: readonly OptionName[]
  /** Those of them that mean something else here. */
  own?: Partial<Record<OptionName, Option>>
}

const BOARD = { name: 'DIR', help: 'folder of the task board' }
const PUBLISHING = [
  ...(['edge', 'repo', 'token-file', 'follow-links', 'run-output', 'cache'] as const),
  ...(['log', 'verbose'] as const),
] as const

const HERE = { name: 'DIR', help: 'folder of the project [this folder, or one above it]' }
const PUBLISHES = ['follow-links', 'poll', 'run-output'] as const
/** Of commands that read the data folder of a running system. */
const RUNNING = ['data', 'trust-data'] as const

export const DEFINITIONS = {
  dev: {
    argument: HERE,
    usage: '[DIR] [options]',
    summary: 'runs Signalbox for a board; signalbox alone, or with a path such as ., does so too',
    description: `\
Runs all of Signalbox for the board of the project in one process: the edge with its console, the
payments and their database, the sidecar of the board, and a simulator of payment gateways. Prints
the address, and a link that signs in one browser. A gateway whose variables are set
(REDIRECT_GATEWAY_*, FIB_*, STRIPE_*) takes the place of its simulator; PAYMENT_* variables are
used, too.

Everything is written to the data folder, which git ignores: local.json there tells programs how to
connect, and logs/ holds the log. It listens on 127.0.0.1 alone. SIGINT and SIGTERM end it with exit
code 0.`,
    options: [
      ...(['example', 'open', 'port', 'data', 'trust-data', 'repo'] as const),
      ...([...PUBLISHES, 'no-config'] as const),
    ],
    own: {
      port: { value: 'N', help: 'port of the edge; 0 takes any free port [8787, if it is free]' },
      // SIGNALBOX_REPO is the sidecar's: what it publishes says nothing about this board.
      repo: {
        value: 'NAME',
        help: "name of the repository at the edge [the project's absolute path]",
      },
      data: {
        value: 'DIR',
        help: 'folder for everything that is written [.signalbox in the project]',
      },
    },
  },
  serve: {
    argument: { name: 'DIR', help: 'folder of a task board to publish [none]' },
    usage: '[DIR --repo NAME] [options]',
    summary: "runs the edge on a server of one's own, in one process",
    description: `\
Runs the edge with its console, the payments and their database in one process and, with DIR, the
sidecar of that board. Sidecars elsewhere can publish to it as well. Settings are variables of the
environment or of --env, whose values take precedence: HOST [127.0.0.1], PORT, DATA_DIR,
AUTH_SECRETS or AUTH_JWKS_URL, ALLOWED_ORIGINS, and those of payments. LIBSQL_URL may name a
database elsewhere; without it, the database is a file in the data folder.

GET /healthz answers 200 when the database can be used. With METRICS_PORT, GET /metrics on that port
of 127.0.0.1 has the numbers for Prometheus. SIGTERM and SIGINT publish what is pending, answer what
is under way, end all streams, and end with exit code 0. SIGHUP reads --env again and takes
over the AUTH_ variables.`,
    options: ['repo', 'port', 'data', 'env', ...PUBLISHES, 'no-config', 'log', 'verbose'],
    own: {
      port: { value: 'N', env: 'PORT', help: 'port of the edge; 0 takes any free port [8787]' },
      data: {
        value: 'DIR',
        env: 'DATA_DIR',
        help: 'folder for everything that is written [.signalbox]',
      },
      env: { value: 'FILE', help: 'file of variables, read again at SIGHUP' },
    },
  },
  start: {
    usage: '[options]',
    summary: 'runs all of Signalbox on this machine',
    description: `\
Runs the edge, its database, the sidecar of one board and a simulator of payment gateways. A gateway
whose variables are set (REDIRECT_GATEWAY_*, FIB_*, STRIPE_*) takes the place of its simulator;
PAYMENT_* variables are passed on.

Everything is written to the data folder: local.json there tells programs how to connect, and logs/
holds the log of each process. Everything listens on 127.0.0.1 alone. SIGINT and SIGTERM end all of
it with exit code 0.`,
    options: ['store', 'follow-links', 'repo', 'port', 'data', 'trust-data', 'host'],
    own: {
      // SIGNALBOX_REPO is the sidecar's: what it publishes says nothing about this board.
      repo: {
        value: 'NAME',
        help: "name of the repository at the edge [the board's absolute path]",
      },
      data: { value: 'DIR', help: 'folder for everything that is written [.signalbox]' },
    },
  },
  watch: {
    argument: BOARD,
    usage: 'DIR --edge URL --repo NAME [options]',
    summary: 'publishes a board to the edge, and every change of it, until it is ended',
    description: `\
Watches the task board in DIR and publishes its changes to the edge. While the edge cannot be
reached, it tries again for ever and loses nothing. SIGTERM and SIGINT publish what is pending and
end with exit code 0. If two sidecars publish one repository, the later one wins; the earlier one
goes on when that has ended, or a minute after it was killed. What leaves this machine: tasks and
sessions as their files have them, and of runs the command and the output, without what looks like
a secret.`,
    options: [...PUBLISHING, 'poll', 'healthz', 'wait', 'exit-with-parent'],
  },
  sync: {
    argument: BOARD,
    usage: 'DIR --edge URL --repo NAME [options]',
    summary: 'publishes a board once, for cron and CI',
    description: `\
Compares the task board in DIR with what the edge holds, publishes what is missing there, and ends:
with exit code 0 when the edge holds everything, else with 1. Short failures of the network are
tried again. If a watch of the same repository runs, it takes over again with its next change, some
seconds later than usual. It publishes what a watch publishes.`,
    options: [...PUBLISHING, 'timeout'],
  },
  token: {
    usage: '--repo NAME [--scope SCOPES] [--ttl TIME] [--env FILE]',
    summary: 'makes an access token from AUTH_SECRETS',
    description: `\
Signs an access token with the first secret in AUTH_SECRETS and prints it. The edge must have the
same secret. --repo may be given several times; a NAME that ends in * covers every name that begins
with it. Scopes: board:read, board:write, payments:read, payments:write. --repo limits what the
token may do with boards. Payments belong to no repository: payments: scopes allow all of them.
If the edge has an AUTH_AUDIENCE, set it here too.`,
    options: ['repo', 'scope', 'ttl', 'env'],
  },
  doctor: {
    argument: HERE,
    usage: '[DIR] [--edge URL --repo NAME | --data DIR] [--payments] [options]',
    summary: 'checks a board, this machine, the edge, the token and, with --payments, payments',
    description: `\
Checks the board in DIR and the limits of this machine. With an edge, it also checks whether the
edge answers, its clock and the token. With --payments it goes on with the checks of
signalbox payments doctor. It changes nothing. With --data, the edge, the repository and the token
are those of the running signalbox that uses this folder; without --edge and --data, of the one that
runs in the project, if there is one. Prints one line for each check: ok, warn or error.`,
    options: [
      ...(['follow-links', 'edge', 'repo', 'token-file', ...RUNNING] as const),
      ...(['payments', 'no-config', 'env', 'json'] as const),
    ],
  },
  migrate: {
    usage: '[--env FILE]',
    summary: 'brings the database of payments to the schema of this version',
    description: `\
Reads LIBSQL_URL and LIBSQL_AUTH_TOKEN. Makes the tables of an empty database. In a database of an
older version it runs the missing migrations, in small transactions; run again, it goes on where it
stopped. Deploy this version of the edge first: until the database is migrated, the edge stores
nothing and answers 503, and gateways send their webhooks again. npx signalbox migrates its own
database.`,
    options: ['env'],
  },
  'sign-in': {
    usage: '[--data DIR]',
    summary: 'prints a link that signs in one browser to a running signalbox',
    description: `\
The link works once, within a day. The browser then stays signed in for 30 days. Everyone who has
the link can see the board, charge and refund.`,
    options: [...RUNNING],
    own: { data: { value: 'DIR', help: 'its data folder [.signalbox here or in a folder above]' } },
  },
  'payments doctor': {
    usage: '[--edge URL | --data DIR] [--env FILE] [options]',
    summary: 'checks gateways, secrets, the database, clocks and the edge',
    description: `\
Reads signalbox.config.ts and the environment (with --env: that file; with --data: what the
running signalbox has; with none of them, the one that runs in the project, if there is one),
reads the database, and asks each gateway for an access token. With an edge, it sends two
callbacks to each webhook route: one that is not signed, and one that is about no payment. It
charges nothing and stores nothing. The edge logs both callbacks, and reports the first as
WebhookVerificationFailed. To read payments from the edge, the token needs the scope
payments:read. Prints one line for each check: ok, warn or error. It never prints a secret.`,
    options: ['edge', ...RUNNING, 'no-config', 'env', 'token-file', 'json'],
  },
  'payments simulate': {
    argument: { name: 'GATEWAY', help: 'key of the gateway in signalbox.config.ts' },
    usage: 'GATEWAY --reference R --amount N --currency CUR [options]',
    summary: 'sends one webhook to the edge, signed as the gateway would sign it',
    description: `\
Sends it to --edge URL, or to the running signalbox that --data names. The signing secret is taken
from the environment, from --env or from --data. Without --transaction, and with a token, it looks
for the newest payment of this reference and sends a webhook about that payment. If there is none,
the edge keeps the webhook as parked until the payment appears. fib signs nothing: it needs
--transaction or a reference that is found, and the edge asks the bank for the real status.
redirect and stripe cannot report Cancelled. Prints the status and the word of each answer.`,
    options: [
      ...(['edge', ...RUNNING, 'no-config', 'env', 'token-file'] as const),
      ...(['reference', 'amount', 'currency', 'status', 'transaction', 'event-id'] as const),
      'times',
    ],
  },
} as const satisfies Record<string, Definition>

export type CommandName = keyof typeof DEFINITIONS

/** The first word of commands that have two. */
export const GROUPS = { payments: 'checks payments, and tries them out' } as const
