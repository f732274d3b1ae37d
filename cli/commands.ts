// Every command of `signalbox`. Its module is under its name in commands/, and loaded when that is
// named, since `watch` must not wait for what `start` imports.

import { edition } from '#edition'
import type { Listed } from './command.ts'

const SUMMARIES: Readonly<Record<string, string>> = {
  dev: 'runs Signalbox for boards, or payments alone (--no-board); also without the word dev',
  serve: "runs the edge on a server of one's own, in one process",
  start: 'runs all of Signalbox on this machine',
  watch: 'publishes boards to the edge, and every change of them, until it is ended',
  sync: 'publishes a board once, for cron and CI',
  wait: 'waits for a change of a board, a ready task or a status: for agents and scripts',
  claim: 'takes a task, or the next that is free, so that nobody else can take it',
  renew: 'renews a claim, and reports progress',
  release: 'gives a claimed task back, done or not',
  check: 'asks whether a claim still holds, such as before a commit',
  history: 'prints what happened on a board, exports it, or verifies an export',
  claims: 'shows the claims of a board: holder, task, time, worktree and last progress',
  pause: 'pauses claims of a board until resume, or limits how many there are',
  resume: 'ends the pause of a board',
  notify: 'shows the rules for notices of a board, and what was sent; tests a rule',
  mcp: 'speaks the Model Context Protocol with an agent on this machine',
  skill: 'prints or writes a skill for agents that work from a board',
  deploy: 'makes an edge on Cloudflare, or brings it to this version',
  token: 'makes an access token from AUTH_SECRETS',
  doctor: 'checks boards, this machine, the edge, the token and, with --payments, payments',
  migrate: 'brings the database of payments to the schema of this version',
  backup: 'copies the database of payments, while it is used, to one file',
  restore: 'makes a database of payments of a backup',
  'sign-in': 'prints a link that signs in one browser to a running signalbox',
  'boards forget': 'removes a board that no sidecar publishes from the list of boards',
  'payments doctor': 'checks gateways, secrets, the database, clocks and the edge',
  'payments simulate': 'sends one webhook to the edge, signed as the gateway would sign it',
  'payments find': 'finds payments by a part of a reference or text, an id, an amount or a day',
  'payments cancel': 'ends an open payment at its gateway',
  'payments pause':
    'begins no new payments until payments resume, such as for a move to another machine',
  'payments resume': 'ends a pause of payments',
  'payments reconcile': "compares a gateway's settlement file with the books",
  'payments forget': 'deletes the personal data in settled payments',
}

// One pattern for esbuild, which makes a chunk of each file. Vite would rewrite it, and knows one
// level of folders alone.
const loaderOf = (name: string): Listed['load'] =>
  name === 'start'
    ? edition.start
    : () => import(/* @vite-ignore */ `./commands/${name.replace(' ', '/')}.ts`)

export const COMMANDS: Readonly<Record<string, Listed>> = Object.fromEntries(
  Object.entries(SUMMARIES).map(([name, summary]) => [name, { summary, load: loaderOf(name) }]),
)

/** The first word of commands that have two. */
export const GROUPS: Readonly<Record<string, string>> = {
  boards: 'forgets a board that is gone',
  payments: 'checks, tries out, finds, ends, pauses and reconciles payments, and forgets payers',
}
