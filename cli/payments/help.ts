// The texts of --help, made from the tables. Pure.

import type { Command } from './command.ts'
import { OPTIONS, type Option } from './flags.ts'

const NAME = 'signalbox'
const EXIT_CODES = `Exit codes:
  0  done; nothing is wrong; every webhook was answered with 200
  1  an error was found; a webhook was answered otherwise, or not at all
  2  wrong usage
`
const TOKEN = `\
The token is taken from SIGNALBOX_TOKEN or from a file, secrets from the environment, never from a
flag: flags show in the list of processes.
`

export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(20)}${summary}\n`).join('')
  return `Usage: ${NAME} <command> [options]

Commands:
${rows}
${NAME} <command> --help says more.

${EXIT_CODES}`
}

export function helpOf(command: Command): string {
  const rows = command.options.map((name) => {
    const { value, env, about }: Option = OPTIONS[name]
    const flag = `--${name}${value === undefined ? '' : ` ${value}`}`
    return `  ${flag.padEnd(20)}${about}${env === undefined ? '' : ` (${env})`}\n`
  })
  return `Usage: ${NAME} ${command.name} ${command.usage}

${command.about}

Options, and the environment variables that stand for them:
${rows.join('')}
${command.options.includes('token-file') ? `${TOKEN}\n` : ''}${EXIT_CODES}`
}
