// Every command of `signalbox`: its options, its help, and the module that runs it.

import { edition } from '#edition'
import type { Command } from './command.ts'
import {
  DATA,
  EDGE,
  ENV,
  FOLLOW_LINKS,
  JSON_OUTPUT,
  LOG,
  NO_CONFIG,
  ONLY,
  POLL,
  PRINTS,
  REPO,
  RUN_OUTPUT,
  Setting,
  SHARE,
  TOKEN_FILE,
  TRUST_DATA,
  VERBOSE,
  WATCH_TIMEOUT,
} from './setting.ts'

export interface Definition {
  /** The argument before the options; with dots, it may be several. Absent: none. */
  argument?: readonly [name: string, help: string]
  /** The text after the name in the first line of the help. */
  usage: string
  /** One line, for the list of commands. */
  summary: string
  /** For the command's own help. */
  description: string
  options: readonly Setting[]
  /** Called when the command is run: `watch` must not wait for what `start` imports. */
  load: (() => Promise<Command>) | undefined
}

const HERE = ['DIR', 'folder of the project [this folder, or one above it]'] as const
/** Of commands that read the data folder of a running system. */
const RUNNING = [DATA, TRUST_DATA]
const PUBLISHES = [ONLY, FOLLOW_LINKS, POLL, WATCH_TIMEOUT, RUN_OUTPUT]
const PUBLISHING = [
  ...[EDGE, REPO, TOKEN_FILE, FOLLOW_LINKS, RUN_OUTPUT],
  new Setting(
    '--cache <DIR>',
    "folder for hashes, which make a restart quick [the user's cache folder]",
  ).env('SIGNALBOX_CACHE'),
  ...[LOG, VERBOSE],
]
/** Of commands that open the database of payments themselves. */
const DATABASE = [
  new Setting('--data <DIR>', 'data folder that has the database (or DATA_DIR) [.signalbox]'),
  ENV,
]
const PORT = '--port <N>'
const KEPT_PORT = new Setting(
  PORT,
  'port of the edge; 0 takes any free port [the last one, at first 8787; any other if it is taken]',
).port()
const WRITTEN = 'folder for everything that is written'
const BOARD = 'folder of the task board'
/** For a board that is named otherwise than by --repo; SIGNALBOX_REPO is the sidecar's. */
const repoInsteadOf = (what: string) =>
  new Setting('--repo <NAME>', `name of the repository at the edge [${what}]`).repository()

export const COMMANDS: Readonly<Record<string, Definition>> = {
  dev: {
    argument: ['DIR...', HERE[1]],
    usage: '[DIR...] [--example | --no-board] [options]',
    summary: 'runs Signalbox for boards, or payments alone (--no-board); also without the word dev',
    description: `\
Runs all of Signalbox for the boards of the project in one process: the edge with its console, the
payments and their database, the sidecars of the boards, and a simulator of payment gateways. The
boards are that of the project and all below, each package of a monorepo and each tool of a folder;
one that is made later appears. Several DIR are several projects. Without a board: --example makes
one, --no-board runs payments alone. Prints the address, and a link that signs in one browser. A
gateway whose variables are set (REDIRECT_GATEWAY_*, FIB_*, STRIPE_*) takes the place of its
simulator; PAYMENT_* variables are used, too.

Everything is written to the data folder, which git ignores: local.json there tells programs how to
connect, and logs/ holds the log. The next start finds all of it there, and has the same address. It
listens on 127.0.0.1 alone, unless it is shared. SIGINT and SIGTERM end it with exit code 0.`,
    options: [
      new Setting('--no-board', 'payments alone: DIR needs no board'),
      new Setting(
        '--example',
        'make an example board in DIR, in signalbox-example, and start on it',
      ),
      new Setting('--open', 'open the console in the browser'),
      SHARE,
      KEPT_PORT,
      new Setting('--data <DIR>', `${WRITTEN} [.signalbox in the project; with --example in DIR]`),
      TRUST_DATA,
      repoInsteadOf("the project's absolute path"),
      ...PUBLISHES,
      ...[NO_CONFIG, PRINTS],
    ],
    load: () => import('./commands/dev.ts'),
  },
  serve: {
    argument: ['DIR...', 'folders of task boards to publish, those below too [none]'],
    usage: '[DIR... --repo NAME] [options]',
    summary: "runs the edge on a server of one's own, in one process",
    description: `\
Runs the edge with its console, the payments and their database in one process and, with DIR, the
sidecars of the boards in each DIR and below, named as signalbox watch names them. Sidecars
elsewhere can publish to it as well. Settings are variables of the environment or of --env, whose
values take precedence: HOST [127.0.0.1], PORT, DATA_DIR, AUTH_SECRETS or AUTH_JWKS_URL,
ALLOWED_ORIGINS, and those of payments. LIBSQL_URL may name a database elsewhere; without it, the
database is a file in the data folder.

GET /healthz answers 200 when the database can be used. With METRICS_PORT, GET /metrics on that port
of 127.0.0.1 has the numbers for Prometheus. SIGTERM and SIGINT publish what is pending, answer what
is under way, end all streams, and end with exit code 0. SIGHUP reads --env again and takes
over the AUTH_ variables.`,
    options: [
      REPO,
      new Setting(PORT, 'port of the edge; 0 takes any free port (or PORT) [8787]').port(),
      new Setting('--data <DIR>', `${WRITTEN} (or DATA_DIR) [.signalbox]`),
      new Setting('--env <FILE>', 'file of variables, read again at SIGHUP'),
      ...[...PUBLISHES, NO_CONFIG, LOG, VERBOSE],
    ],
    load: () => import('./commands/serve.ts'),
  },
  start: {
    usage: '[options]',
    summary: 'runs all of Signalbox on this machine',
    description: `\
Runs the edge, its database, a sidecar for the board in DIR and those below, and a simulator of
payment gateways. A gateway whose variables are set (REDIRECT_GATEWAY_*, FIB_*, STRIPE_*) takes the
place of its simulator; PAYMENT_* variables are passed on.

Everything is written to the data folder: local.json there tells programs how to connect, and logs/
holds the log of each process. Everything listens on 127.0.0.1 alone, unless it is shared. SIGINT
and SIGTERM end all of it with exit code 0.`,
    options: [
      new Setting('--store <DIR>', `${BOARD} [examples/board]`),
      FOLLOW_LINKS,
      repoInsteadOf("the board's absolute path"),
      KEPT_PORT,
      new Setting('--data <DIR>', `${WRITTEN} [.signalbox]`),
      TRUST_DATA,
      new Setting('--host <HOST>', 'runtime of the edge')
        .oneOf(['workerd', 'deno'])
        .default('workerd'),
      ...[SHARE, PRINTS],
    ],
    load: edition.start,
  },
  watch: {
    argument: ['DIR...', 'folders of task boards, or above them'],
    usage: 'DIR... --edge URL --repo NAME [options]',
    summary: 'publishes boards to the edge, and every change of them, until it is ended',
    description: `\
Watches the task boards in each DIR and below, and publishes their changes to the edge. The board of
the first DIR itself is called NAME; any other has its folder and layout as well:
NAME/packages/tea#kiro, NAME#openspec. Folders that .gitignore names and node_modules are not
entered, and no link is followed. A board that is made later is published, too.

While the edge cannot be reached, it tries again for ever and loses nothing. SIGTERM and SIGINT
publish what is pending and end with exit code 0. If two sidecars publish one repository, the later
one wins; the earlier one goes on when that has ended, or a minute after it was killed. What leaves
this machine: tasks and sessions as their files have them, and of runs the command and the output,
without what looks like a secret.`,
    options: [
      ...[...PUBLISHING, ONLY, POLL, WATCH_TIMEOUT],
      new Setting('--healthz <PORT>', 'answer GET /healthz and GET /metrics on 127.0.0.1')
        .env('SIGNALBOX_HEALTHZ')
        .port(),
      new Setting('--wait', 'wait for a board while there is none'),
      new Setting('--exit-with-parent', 'end when standard input closes'),
    ],
    load: () => import('./commands/watch.ts'),
  },
  sync: {
    argument: ['DIR', BOARD],
    usage: 'DIR --edge URL --repo NAME [options]',
    summary: 'publishes a board once, for cron and CI',
    description: `\
Compares the task board in DIR with what the edge holds, publishes what is missing there, and ends:
with exit code 0 when the edge holds everything, else with 1. Short failures of the network are
tried again. If a watch of the same repository runs, it takes over again with its next change, some
seconds later than usual. It publishes what a watch publishes.`,
    options: [
      ...PUBLISHING,
      new Setting('--timeout <TIME>', 'fail after this time')
        .env('SIGNALBOX_TIMEOUT')
        .duration()
        .default(300_000, '5m'),
    ],
    load: () => import('./commands/sync.ts'),
  },
  wait: {
    usage: '[--task ID] [--until any|ready|status=X] [--since ID] [options]',
    summary: 'waits for a change of a board, a ready task or a status: for agents and scripts',
    description: `\
Waits until it is so, and prints one line of JSON: id, type, task, status, title and board. What is
so already ends it at once. any: a task changed, whatever of it; sessions and their heartbeats do
not count. ready: the task, or one of the board, can be begun. status=X: it has this status. Without
a task in the line, several changed: read the board. The id of a line is where the next wait goes on
with --since: it then also has what changed meanwhile, and nothing twice.

It asks the Signalbox of --url, else the one that runs in the project or above it, else it reads and
watches the files. Of several boards it waits for that of this folder, or of the nearest above it.
Exit code 3 and type timeout: the time is over; the line has the id to go on from. Exit code 1: the
Signalbox that was named cannot be reached, or there is no board.`,
    options: [
      new Setting('--board <NAME>', "the board's name or the end of it [that of this folder]"),
      new Setting('--task <ID>', 'only this task'),
      new Setting('--until <WHAT>', 'any, ready or status=X').default('any'),
      new Setting('--since <ID>', 'the id of an earlier line'),
      new Setting('--timeout <TIME>', 'how long; the shells of agents are cut at ten minutes')
        .duration()
        .default(480_000, '480s'),
      new Setting('--url <URL>', 'address of a Signalbox elsewhere').url(),
      ...[TOKEN_FILE, ...RUNNING],
    ],
    load: () => import('./commands/wait.ts'),
  },
  token: {
    usage: '[--repo NAME] [--scope SCOPES] [--subject NAME] [--ttl TIME] [--env FILE]',
    summary: 'makes an access token from AUTH_SECRETS',
    description: `\
Signs an access token with the first secret in AUTH_SECRETS and prints it. The edge must have the
same secret. --repo may be given several times; a NAME that ends in * covers every name that begins
with it. Scopes: board:read, board:write, payments:read, payments:write. --repo limits what the
token may do with boards. Payments belong to no repository: payments: scopes allow all of them, and
need no --repo. --subject says who will use the token: a refund that is made with it is stored with
this name. If the edge has an AUTH_AUDIENCE, set it here too.`,
    options: [
      new Setting('--repo <NAME>', REPO.description).env('SIGNALBOX_REPO').several(),
      new Setting('--scope <SCOPES>', 'what the token allows, separated by spaces').default(
        'board:write',
      ),
      new Setting('--subject <NAME>', 'who or what uses the token: its `sub`'),
      new Setting('--ttl <TIME>', 'how long the token is valid: 12h, 30d, …')
        .duration()
        .default(30 * 86_400_000, '30d'),
      ENV,
    ],
    load: () => import('./commands/token.ts'),
  },
  doctor: {
    argument: HERE,
    usage: '[DIR] [--edge URL --repo NAME | --data DIR] [--payments] [options]',
    summary: 'checks boards, this machine, the edge, the token and, with --payments, payments',
    description: `\
Checks the boards of the project and below, and the limits of this machine. With an edge, it also
checks whether the edge answers, its clock and the token. With --payments it goes on with the checks
of signalbox payments doctor. It changes nothing. With --data, the edge, the repository and the
token are those of the running signalbox that uses this folder, and all of its boards are checked;
without --edge and --data, of the one that runs in the project or above it, if there is one. Prints
one line for each check: ok, warn or error.`,
    options: [
      ...[FOLLOW_LINKS, EDGE, REPO, TOKEN_FILE, ...RUNNING],
      new Setting('--payments', 'check payments too, as signalbox payments doctor does'),
      ...[NO_CONFIG, ENV, JSON_OUTPUT],
    ],
    load: () => import('./commands/doctor.ts'),
  },
  migrate: {
    usage: '[--env FILE]',
    summary: 'brings the database of payments to the schema of this version',
    description: `\
Reads LIBSQL_URL and LIBSQL_AUTH_TOKEN. Makes the tables of an empty database. In a database of an
older version it runs the missing migrations, in small transactions; run again, it goes on where it
stopped. Deploy this version of the edge first: until the database is migrated, the edge stores
nothing and answers 503, and gateways send their webhooks again. signalbox dev migrates its own
database.`,
    options: [ENV],
    load: () => import('./commands/migrate.ts'),
  },
  backup: {
    argument: ['FILE', 'the file to write'],
    usage: 'FILE [--data DIR] [--env FILE] [--force]',
    summary: 'copies the database of payments, while it is used, to one file',
    description: `\
Copies the database in the data folder, or the one that LIBSQL_URL names, as of one moment, also
while Signalbox runs. FILE has its name once it is whole and on the disk, and only its owner can
read it. It holds all payments, and no secret, no board and no log. From cron, run it as the user of
Signalbox, with a new name each time. Try a copy out: signalbox restore fills an empty folder with
it. npm start keeps its payments in a server: for LIBSQL_URL and LIBSQL_AUTH_TOKEN take database and
databaseToken of its local.json.`,
    options: [...DATABASE, new Setting('--force', 'overwrite FILE')],
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    argument: ['FILE', 'a file of signalbox backup'],
    usage: 'FILE [--as-copy] [--data DIR] [--env FILE]',
    summary: 'makes a database of payments of a backup',
    description: `\
Fills an empty data folder, or an empty database that LIBSQL_URL names. Then start Signalbox there:
its sweeper asks the gateways about every payment and refund that was open, 50 a minute, and applies
their answers. No save of the time before is accepted, should an old process still send one. Events
that were delivered after the backup are delivered again. Charges that began after it are not in it;
the same charge, sent again, finds its payment at a gateway whose charges can be repeated (redirect,
stripe). End every process of the lost database first. --as-copy is for a second installation,
such as staging, beside the first: it draws an id of its own, so no charge finds a payment of the
other one, and what was open there is never sent, checked, cancelled or refunded here. A backup
of an older version is upgraded by the next start, one in LIBSQL_URL by signalbox migrate.`,
    options: [
      ...DATABASE,
      new Setting('--as-copy', 'the database that was backed up goes on: share no payment with it'),
    ],
    load: () => import('./commands/restore.ts'),
  },
  'sign-in': {
    usage: '[--phone] [--data DIR]',
    summary: 'prints a link that signs in one browser to a running signalbox',
    description: `\
The link works once, within a day, and that of --phone within ten minutes. The browser then stays
signed in for a day. Everyone who has the link can see the board, charge and refund.`,
    options: [
      new Setting('--phone', 'print a code for the camera of a phone; Signalbox runs with --share'),
      new Setting('--data <DIR>', 'its data folder [.signalbox here or in a folder above]'),
      TRUST_DATA,
    ],
    load: () => import('./commands/sign-in.ts'),
  },
  'payments doctor': {
    usage: '[--edge URL | --data DIR] [--env FILE] [options]',
    summary: 'checks gateways, secrets, the database, clocks and the edge',
    description: `\
Reads signalbox.config.ts and the environment (with --env: that file; with --data: what the
running signalbox has; with none of them, the one that runs in the project or above it),
reads the database, and asks each gateway for an access token. With an edge, it sends two
callbacks to each webhook route: one that is not signed, and one that is about no payment. It
charges nothing and stores nothing. The edge logs both callbacks, and reports the first as
WebhookVerificationFailed. To read payments from the edge, the token needs the scope
payments:read. Prints one line for each check: ok, warn or error. It never prints a secret.`,
    options: [EDGE, ...RUNNING, NO_CONFIG, ENV, TOKEN_FILE, JSON_OUTPUT],
    load: () => import('./doctor/payments.ts'),
  },
  'payments simulate': {
    argument: ['GATEWAY', 'key of the gateway in signalbox.config.ts'],
    usage: 'GATEWAY --reference R --amount N --currency CUR [options]',
    summary: 'sends one webhook to the edge, signed as the gateway would sign it',
    description: `\
Sends it to --edge URL, or to the running signalbox that --data names. The signing secret is taken
from the environment, from --env or from --data. Without --transaction, and with a token, it looks
for the newest payment of this reference and sends a webhook about that payment. If there is none,
the edge keeps the webhook as parked until the payment appears. fib signs nothing: it needs
--transaction or a reference that is found, and the edge asks the bank for the real status.
redirect and stripe cannot report Cancelled. Prints the status and the body of each answer.`,
    options: [
      ...[EDGE, ...RUNNING, NO_CONFIG, ENV, TOKEN_FILE],
      new Setting('--reference <R>', "the shop's name for the payment"),
      new Setting('--amount <N>', 'what the gateway says was paid, in minor units').whole(
        1,
        Number.MAX_SAFE_INTEGER,
      ),
      new Setting('--currency <CUR>', 'three capital letters'),
      new Setting('--status <STATUS>', 'what the gateway says of the payment')
        .oneOf(['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'])
        .default('Paid'),
      new Setting('--transaction <ID>', "the gateway's name for the payment"),
      new Setting('--event-id <ID>', 'id of the event; a repeated id is a duplicate [a new id]'),
      new Setting('--times <N>', 'send the same webhook N times at once')
        .whole(1, 1_000)
        .default(1),
    ],
    load: () => import('./payments/simulate.ts'),
  },
  'payments forget': {
    usage: '--before DATE | --reference R [--data DIR] [--env FILE] [--yes]',
    summary: 'deletes what may name the payers of settled payments',
    description: `\
Counts the payments, and deletes nothing until --yes is given. Then it empties, in payments that are
settled: what gateways sent, description and metadata, the address of the page, the reasons of
refunds, and these in stored events. It keeps the reference, ids, amounts, statuses and times, and
the name of each webhook, so that none is applied twice. A payment is settled when it has ended, and
no refund, alert, delivery or check of it is open. It may be run beside a running Signalbox. The
audit trail has each payment with action forget. Backups and logs of before keep what they have.`,
    options: [
      new Setting('--before <DATE>', 'payments that did not change since this date (UTC)').date(),
      new Setting('--reference <R>', "payments of this order, by the shop's name for it"),
      ...[...DATABASE, new Setting('--yes', 'do it')],
    ],
    load: () => import('./payments/forget.ts'),
  },
}

/** The first word of commands that have two. */
export const GROUPS: Readonly<Record<string, string>> = {
  payments: 'checks payments, tries them out, and forgets payers',
}
