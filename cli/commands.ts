// Every command of `signalbox`, and the module that has it, under its name in commands/: loaded
// when it is named, since `watch` must not wait for what `start` imports.

import { edition } from '#edition'
import type { Listed } from './command.ts'

export const COMMANDS: Readonly<Record<string, Listed>> = {
  dev: {
    summary: 'runs Signalbox for boards, or payments alone (--no-board); also without the word dev',
    load: () => import('./commands/dev.ts'),
  },
  serve: {
    summary: "runs the edge on a server of one's own, in one process",
    load: () => import('./commands/serve.ts'),
  },
  start: {
    summary: 'runs all of Signalbox on this machine',
    load: edition.start,
  },
  watch: {
    summary: 'publishes boards to the edge, and every change of them, until it is ended',
    load: () => import('./commands/watch.ts'),
  },
  sync: {
    summary: 'publishes a board once, for cron and CI',
    load: () => import('./commands/sync.ts'),
  },
  wait: {
    summary: 'waits for a change of a board, a ready task or a status: for agents and scripts',
    load: () => import('./commands/wait.ts'),
  },
  claim: {
    summary: 'takes a task that nobody else can take as well, or the next that is free',
    load: () => import('./commands/claim.ts'),
  },
  renew: {
    summary: 'goes on holding a claimed task, and says what is done',
    load: () => import('./commands/renew.ts'),
  },
  release: {
    summary: 'gives a claimed task back, done or not',
    load: () => import('./commands/release.ts'),
  },
  check: {
    summary: 'asks whether a claim still holds, such as before a commit',
    load: () => import('./commands/check.ts'),
  },
  history: {
    summary: 'prints what happened on a board, exports it, or verifies an export',
    load: () => import('./commands/history.ts'),
  },
  claims: {
    summary: 'shows who holds what on a board, since when, where, and what was said last',
    load: () => import('./commands/claims.ts'),
  },
  pause: {
    summary: 'hands nothing out of a board until resume, or only to so many agents',
    load: () => import('./commands/pause.ts'),
  },
  resume: {
    summary: 'ends the pause of a board',
    load: () => import('./commands/resume.ts'),
  },
  notify: {
    summary: 'shows what people are told of a board, and by which rules; tests a rule',
    load: () => import('./commands/notify.ts'),
  },
  mcp: {
    summary: 'speaks the Model Context Protocol with an agent on this machine',
    load: () => import('./commands/mcp.ts'),
  },
  skill: {
    summary: 'prints or writes a skill for agents that work from a board',
    load: () => import('./commands/skill.ts'),
  },
  deploy: {
    summary: 'makes an edge on Cloudflare, or brings it to this version',
    load: () => import('./commands/deploy.ts'),
  },
  token: {
    summary: 'makes an access token from AUTH_SECRETS',
    load: () => import('./commands/token.ts'),
  },
  doctor: {
    summary: 'checks boards, this machine, the edge, the token and, with --payments, payments',
    load: () => import('./commands/doctor.ts'),
  },
  migrate: {
    summary: 'brings the database of payments to the schema of this version',
    load: () => import('./commands/migrate.ts'),
  },
  backup: {
    summary: 'copies the database of payments, while it is used, to one file',
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    summary: 'makes a database of payments of a backup',
    load: () => import('./commands/restore.ts'),
  },
  'sign-in': {
    summary: 'prints a link that signs in one browser to a running signalbox',
    load: () => import('./commands/sign-in.ts'),
  },
  'boards forget': {
    summary: 'takes a board that no sidecar publishes off the list of boards',
    load: () => import('./commands/boards/forget.ts'),
  },
  'payments doctor': {
    summary: 'checks gateways, secrets, the database, clocks and the edge',
    load: () => import('./commands/payments/doctor.ts'),
  },
  'payments simulate': {
    summary: 'sends one webhook to the edge, signed as the gateway would sign it',
    load: () => import('./commands/payments/simulate.ts'),
  },
  'payments find': {
    summary: 'finds payments by a part of what they are named, an id, an amount or a day',
    load: () => import('./commands/payments/find.ts'),
  },
  'payments cancel': {
    summary: 'ends an open payment at its gateway',
    load: () => import('./commands/payments/cancel.ts'),
  },
  'payments pause': {
    summary: 'begins nothing new until payments resume, such as for a move to another machine',
    load: () => import('./commands/payments/pause.ts'),
  },
  'payments resume': {
    summary: 'ends a pause of payments',
    load: () => import('./commands/payments/resume.ts'),
  },
  'payments reconcile': {
    summary: "compares a gateway's settlement file with the books",
    load: () => import('./commands/payments/reconcile.ts'),
  },
  'payments forget': {
    summary: 'deletes what may name the payers of settled payments',
    load: () => import('./commands/payments/forget.ts'),
  },
}

/** The first word of commands that have two. */
export const GROUPS: Readonly<Record<string, string>> = {
  boards: 'forgets a board that is gone',
  payments: 'checks, tries out, finds, ends, pauses and reconciles payments, and forgets payers',
}
