// The command line on commander: picks the command, and turns what it throws into an exit code.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, CommanderError, Help, type Option } from 'commander'
import type { StoreError } from '../sidecar/layouts/registry.ts'
import type { StartErrorCode } from '../system/start-error.ts'
import { errorCode, isDiskFailure } from '../worker/shared/file-errors.ts'
import { messageOf } from '../worker/shared/log.ts'
import type { Definition, Listed } from './command.ts'
import { COMMANDS, GROUPS } from './commands.ts'
import { type Context, type Environment, VERSION } from './context.ts'
import { EXIT_CODES, FAILED, USAGE } from './exit-codes.ts'
import { TOKEN_FILE, withShare } from './settings.ts'
import { noticeTo } from './terminal.ts'
import { type Input, UsageError } from './usage.ts'

const HELP_COLUMNS = 100
const TOKEN = `
The access token is taken from SIGNALBOX_TOKEN or from a file, never from an option: options show in
the list of processes.`

/**
 * Trying again may help: the other process ends, the disk is mounted, the folder is moved.
 * @forTests The exit codes of docs/remedies.md.
 */
export const PASSING: readonly (StartErrorCode | StoreError['code'])[] = [
  'port_taken',
  'other_database',
  'stray_worktree',
  'runs_elsewhere',
]
/** Their message is one sentence for the person at the terminal. */
const REFUSALS: readonly string[] = ['UsageError', 'StartError', 'StoreError', 'SecretFileError']

/** Runs one command line to its exit code; `argv` without the program. */
export async function main(
  argv: readonly string[],
  context: Context,
  commands = COMMANDS,
): Promise<number> {
  const refuse = noticeTo(context.io, 'error')
  let code = 0
  try {
    const words = withCommand(withShare(argv))
    const program = await createProgram(words, context, commands, (exitCode) => {
      code = exitCode
    })
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (error) {
    const isOfDisk = isDiskFailure(error)
    if (error instanceof Error && REFUSALS.includes(error.name)) {
      refuse(error.message)
      // It may be free soon: a supervisor starts again after all but a wrong use.
      const isPassing = PASSING.some((code) => code === errorCode(error))
      return isPassing || isOfDisk ? FAILED : USAGE
    }
    if (isOfDisk) {
      refuse(`The disk is full or fails: ${messageOf(error)}.`)
      return FAILED
    }
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    // It has printed the help, since no command was named.
    if (error.code !== 'commander.help')
      refuse(`${sentenceOf(error)}${folderHint(error, argv, context)}`)
    return USAGE
  }
}

const OF_THE_PROGRAM = ['-h', '--help', '-v', '--version']

/** Without a command, apart from the options of the program itself, `dev` is meant. */
function withCommand(argv: readonly string[]): readonly string[] {
  const [first] = argv
  const isNone = first === undefined || (first.startsWith('-') && !OF_THE_PROGRAM.includes(first))
  return isNone || isFolder(first) ? ['dev', ...argv] : argv
}

/** A folder is named by its form: `signalbox p` means a command. */
function folderHint({ code }: CommanderError, [word = '']: readonly string[], { cwd }: Context) {
  const isFolder = statSync(resolve(cwd, word), { throwIfNoEntry: false })?.isDirectory()
  if (code !== 'commander.unknownCommand' || !isFolder) return ''
  return ` For the folder, write signalbox ./${word}`
}

/** By its form alone: a folder `sync` here must not keep anyone from the command. */
const isFolder = (word: string): boolean => /[\\/]|^\.\.?$/.test(word)

/** The command that is run, or whose help is printed. Undefined: none of ours. */
function nameIn(words: readonly string[], commands: typeof COMMANDS): string | undefined {
  const [first = '', second] = words[0] === 'help' ? words.slice(1) : words
  const name = first in GROUPS ? `${first} ${second}` : first
  return Object.hasOwn(commands, name) ? name : undefined
}

async function load(name: string, { load }: Listed): Promise<Definition> {
  if (load) return (await load()).command
  const how = `run it there, with npm run ${name}`
  throw new UsageError(`${name} needs a checkout of Signalbox: ${how}.`)
}

/** Knows all commands by name, and `named` whole: only its module is loaded. */
async function createProgram(
  words: readonly string[],
  context: Context,
  commands: typeof COMMANDS,
  onEnd: (exitCode: number) => void,
): Promise<Command> {
  const { io } = context
  const program = new Command('signalbox')
    .description('Signalbox: signals of task boards and payments, at the edge.')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ helpWidth: HELP_COLUMNS, formatHelp })
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // `main` prints the sentence.
      outputError: () => undefined,
    })
    .exitOverride()
    .addHelpText('after', EXIT_CODES)
  const groups = new Map<string, Command>()
  const groupOf = (name: string, help: string): Command => {
    const group = groups.get(name) ?? program.command(name).description(help)
    groups.set(name, group)
    return group
  }
  const named = nameIn(words, commands)
  for (const [name, listed] of Object.entries(commands)) {
    const [first = '', second = first] = name.split(' ')
    const group = GROUPS[first]
    const parent = group === undefined ? program : groupOf(first, group)
    const command = parent.command(second, { hidden: listed.load === undefined })
    command.summary(listed.summary)
    if (name !== named) continue
    const definition = await load(name, listed)
    define(command, definition).action(async () => {
      onEnd(await definition.run(inputOf(command, words, context), context))
    })
  }
  return program
}

function define(command: Command, definition: Definition): Command {
  const { argument, options } = definition
  command.description(definition.description).usage(definition.usage)
  if (argument) command.argument(`[${argument[0]}]`, argument[1])
  for (const option of options) command.addOption(option)
  const isWithToken = options.includes(TOKEN_FILE)
  return command.addHelpText('after', isWithToken ? `${TOKEN}\n${EXIT_CODES}` : EXIT_CODES)
}

function inputOf(command: Command, words: readonly string[], { env }: Context): Input {
  const options: Record<string, unknown> = {}
  const typed = new Set<string>()
  for (const option of command.options) {
    const key = option.attributeName()
    let value: unknown = command.getOptionValue(key)
    if (command.getOptionValueSource(key) === 'cli') {
      if (value === '') throw new UsageError(`${option.long} is empty.`)
      typed.add(option.long ?? '')
    } else {
      value = inVariable(option, env) ?? (option.negate ? true : option.defaultValue)
    }
    if (value !== undefined) options[key] = value
  }
  const dashes = words.indexOf('--')
  const behindDashes = dashes === -1 ? [] : words.slice(dashes + 1)
  return { arguments: command.args, behindDashes, options, typed }
}

/** Commander would read the process's own environment, and turn a switch on for any value. */
function inVariable(option: Option, env: Environment): unknown {
  const text = env[option.envVar ?? '']?.trim()
  if (!text) return undefined
  if (option.isBoolean()) return /^(0|false)$/.test(text) ? undefined : true
  return option.parseArg?.(text, undefined)
}

/** A command of two words is listed with the others, so that it is easy to find. */
const formatHelp: Help['formatHelp'] = (command, help) =>
  new Help().formatHelp(command, Object.assign(help, { visibleCommands, subcommandTerm: fullName }))

const visibleCommands = (parent: Command): Command[] =>
  new Help()
    .visibleCommands(parent)
    .flatMap((command) => (command.commands.length > 0 ? visibleCommands(command) : command))
    .filter((command) => command.name() !== 'help')

const fullName = (command: Command): string =>
  command.parent?.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()

/** Commander's message is up to two lines; the second names what was probably meant. */
function sentenceOf({ code, message }: CommanderError): string {
  const [first = '', nearest] = message.replace(/^error: /, '').split('\n')
  // `--token=…` was meant to be a secret.
  const what = first.replace(/'(--[\w-]+)=.*'/, "'$1'")
  if (code === 'commander.optionMissingArgument') {
    return `${what.replace('argument missing', 'needs a value')}.`
  }
  if (/^commander\.unknown/.test(code)) {
    return `${what} ${nearest ?? '(signalbox --help lists what there is)'}.`
  }
  return what.replace('. Expected', ': expected')
}
