// Options that several commands have, and all that a variable can set: a variable that is misspelt
// is compared with these.

import type { RunOutput } from '../sidecar/files/parse-file.ts'
import { WATCH_WITHIN_MS } from '../sidecar/watch/watch.ts'
import type { SharePlan } from '../system/local/share.ts'
import { LAYOUT_NAMES } from '../worker/shared/layouts.ts'
import { Setting } from './setting.ts'

/** The variables of options. */
export const OPTION_VARIABLES = new Set<string>()

function variable(name: string): string {
  OPTION_VARIABLES.add(name)
  return name
}

export const EDGE = new Setting('--edge <URL>', 'address of the edge')
  .env(variable('SIGNALBOX_EDGE'))
  .url()
export const REPO = new Setting('--repo <NAME>', 'name of the repository at the edge')
  .env(variable('SIGNALBOX_REPO'))
  .repository()
export const TOKEN_FILE = new Setting(
  '--token-file <FILE>',
  'file that holds the access token',
).env(variable('SIGNALBOX_TOKEN_FILE'))
export const FOLLOW_LINKS = new Setting(
  '--follow-links',
  'publish the board in DIR also if it is a link that leads out of DIR',
)
export const NO_WORKTREES = new Setting(
  '--no-worktrees',
  'show nothing of linked worktrees of git, and do not look for boards in them',
)
export const ONLY = new Setting(
  '--only <LAYOUT>',
  'boards of this layout; may be given several times [all]',
).someOf(LAYOUT_NAMES)
export const POLL = new Setting(
  '--poll',
  'look at the files each second: for mounts that report no change (network, WSL)',
).env(variable('SIGNALBOX_POLL'))
export const WATCH_TIMEOUT = new Setting(
  '--watch-timeout <TIME>',
  'a watcher that is not ready by then is left behind, and scans find what changes',
)
  .env(variable('SIGNALBOX_WATCH_TIMEOUT'))
  .duration()
  .or(WATCH_WITHIN_MS, '10s')
export const RUN_OUTPUT = new Setting(
  '--run-output <KIND>',
  'output of runs: without what looks like a secret, or none',
)
  .env(variable('SIGNALBOX_RUN_OUTPUT'))
  .oneOf(['masked', 'none'] satisfies RunOutput[])
  .or('masked')
export const CACHE = new Setting(
  '--cache <DIR>',
  "folder for hashes, which make a restart quick [the user's cache folder]",
).env(variable('SIGNALBOX_CACHE'))
export const HEALTHZ = new Setting(
  '--healthz <PORT>',
  'answer GET /healthz and GET /metrics on 127.0.0.1',
)
  .env(variable('SIGNALBOX_HEALTHZ'))
  .port()
export const TIMEOUT = new Setting('--timeout <TIME>', 'fail after this time')
  .env(variable('SIGNALBOX_TIMEOUT'))
  .duration()
  .or(300_000, '5m')
export const CLAIMED_FOR = new Setting(
  '--ttl <TIME>',
  'how long it holds without a renewal, 10s to 24h [10m, or as before]',
).duration()
/** It is in the environment of the command that `signalbox claim -- COMMAND` runs. */
export const OWN_CLAIM = new Setting(
  '--claim <CLAIM>',
  'the one that claim printed [that of this actor and board]',
).env(variable('SIGNALBOX_CLAIM'))
const logFormat = (help: string) =>
  new Setting('--log <FORMAT>', help).env(variable('SIGNALBOX_LOG')).oneOf(['json', 'pretty'])
export const LOG = logFormat(
  'of the log; json given here is for all that is printed [pretty on a terminal, else json]',
)
/** For commands whose log is a file. */
export const PRINTS = logFormat('json: all that is printed, without the sign-in link [pretty]')
export const VERBOSE = new Setting('--verbose', 'log every scan too')
const DATA = new Setting('--data <DIR>', 'data folder of a running signalbox')
export const TRUST_DATA = new Setting(
  '--trust-data',
  "the data folder's secret is in it, and not in the user's state folder",
).env(variable('SIGNALBOX_TRUST_DATA'))
const SHARES = ['network', 'payments', 'lines'] satisfies SharePlan['what'][]
export const SHARE = new Setting(
  '--share [WHAT]',
  'let phones of the local network in, by https [network]; payments: to payment pages as well; ' +
    'lines: only print how ssh, Caddy and tailscale lead here',
).oneOf(SHARES)

/** Without a value: what follows may be the folder, which commander would take for one. */
export const withShare = (argv: readonly string[]): readonly string[] =>
  argv.map((word, at) =>
    word === '--share' && !SHARES.some((share) => share === argv[at + 1])
      ? '--share=network'
      : word,
  )
export const NO_CONFIG = new Setting(
  '--no-config',
  'do not run signalbox.config.ts of the current folder',
)
export const NOTIFY = new Setting(
  '--notify <URL>',
  'webhook that gets notices of what needs a person, besides those of signalbox.config.ts',
)
export const ENV = new Setting(
  '--env <FILE>',
  'read variables from this file, such as .dev.vars, and not from the environment',
)
export const JSON_OUTPUT = new Setting('--json', 'print one JSON object instead of lines')

/** For commands that read the data folder of a running system. */
export const RUNNING = [DATA, TRUST_DATA] as const
/** For commands that publish the boards of their folders. */
export const PUBLISHES = [
  ONLY,
  FOLLOW_LINKS,
  NO_WORKTREES,
  POLL,
  WATCH_TIMEOUT,
  RUN_OUTPUT,
] as const

export const WRITTEN = 'folder for everything that is written'
export const KEPT_PORT = new Setting(
  '--port <N>',
  'port of the edge; 0 takes any free port [the last one, at first 8787; any other if it is taken]',
).port()
/** For a board that is named otherwise than by --repo; SIGNALBOX_REPO is the sidecar's. */
export const repoInsteadOf = (what: string) =>
  new Setting('--repo <NAME>', `name of the repository at the edge [${what}]`).repository()
