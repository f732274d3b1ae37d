// The texts of --help, made from the tables. Pure.

import type { Command } from './commands/command.ts'
import { OPTIONS, type Option } from './settings.ts'

const NAME = 'signalbox-sidecar'
const EXIT_CODES = `Exit codes:
  0  done
  1  failed: a sync that could not finish, a check that failed
  2  wrong usage or configuration
`
const TOKEN = `\
The token is taken from SIGNALBOX_TOKEN or from a file, never from a flag: flags show in the
list of processes.
`

export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(8)}${summary}\n`).join('')
  return `${NAME} tells an edge what changes in a task board's files.

Usage: ${NAME} <command> [options]

Commands:
${rows}
${NAME} <command> --help says more; ${NAME} --version says which one this is.

${EXIT_CODES}`
}

export function helpOf(command: Command): string {
  const rows = command.options.map((name) => {
    const { value, env, about }: Option = OPTIONS[name]
    const flag = `--${name}${value ? ` ${value}` : ''}`
    return `  ${flag.padEnd(20)}${about}${env ? `\n${' '.repeat(22)}${env}` : ''}\n`
  })
  const token = command.options.includes('token-file') ? `\n${TOKEN}` : ''
  return `Usage: ${NAME} ${command.name} ${command.usage}

${command.about}

Options, and the environment variables that stand for them:
${rows.join('')}${token}
${EXIT_CODES}`
}
