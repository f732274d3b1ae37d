// The command line on commander: picks the command, and turns what it throws into an exit code.

import { CommanderError, Help, Command as Program, Option as ProgramOption } from 'commander'
import { edition } from '#edition'
import type { Commands, World } from './command.ts'
import { type CommandName, DEFINITIONS, type Definition, GROUPS } from './commands.ts'
import { OPTIONS, type Option, type OptionName } from './options.ts'
import { type OptionValues, Settings, UsageError, VERSION } from './settings.ts'

const HELP_COLUMNS = 100
const USAGE = 2
const EXIT_CODES = `
Exit codes:
  0  done, and nothing is wrong
  1  it failed: a sync that could not finish, a check that found an error, a webhook that was not
     accepted, a process of start that ended again and again
  2  wrong usage, or a configuration that it cannot work with`
const TOKEN = `
The access token is taken from SIGNALBOX_TOKEN or from a file, never from an option: options show in
the list of processes.`

/** Loaded when it is needed: `watch` must not wait for what `start` imports. */
export const COMMANDS: Commands = {
  dev: () => import('./commands/dev.ts'),
  serve: () => import('./commands/serve.ts'),
  start: edition.start,
  watch: () => import('./commands/watch.ts'),
  sync: () => import('./commands/sync.ts'),
  token: () => import('./commands/token.ts'),
  doctor: () => import('./commands/doctor.ts'),
  migrate: () => import('./commands/migrate.ts'),
  'sign-in': () => import('./commands/sign-in.ts'),
  'payments doctor': () => import('./payments/doctor.ts'),
  'payments simulate': () => import('./payments/simulate.ts'),
}

/** Their message is one sentence for the person at the terminal. */
const REFUSALS: readonly string[] = ['UsageError', 'StartError', 'StoreError']

/** Runs one command line to its exit code; `argv` without the program. */
export async function main(
  argv: readonly string[],
  world: World,
  commands = COMMANDS,
): Promise<number> {
  const { io } = world
  let code = 0
  const program = createProgram(world, commands, (exitCode) => {
    code = exitCode
  })
  try {
    await program.parseAsync(withCommand(argv), { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof Error && REFUSALS.includes(error.name)) {
      io.err(`signalbox: ${error.message}\n`)
      return USAGE
    }
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    // It has printed the help, since no command was named.
    if (error.code !== 'commander.help') io.err(`signalbox: ${sentenceOf(error)}\n`)
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

/** By its form alone: a folder `sync` here must not keep anyone from the command. */
const isFolder = (word: string): boolean => /[\\/]|^\.\.?$/.test(word)

function createProgram(
  world: World,
  commands: Commands,
  ended: (exitCode: number) => void,
): Program {
  const { io } = world
  const program = new Program('signalbox')
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
  const groups = new Map<string, Program>()
  const parentOf = (name: CommandName): Program => {
    const [first = ''] = name.split(' ')
    if (!(first in GROUPS)) return program
    const group = groups.get(first) ?? program.command(first)
    groups.set(first, group.description(GROUPS[first as keyof typeof GROUPS]))
    return group
  }
  for (const name of namesOf(DEFINITIONS)) {
    const load = commands[name]
    const hidden = load === undefined
    const command = parentOf(name).command(name.split(' ').at(-1) ?? name, { hidden })
    define(command, DEFINITIONS[name]).action(async () => {
      if (!load) throw new UsageError(needsCheckout(name))
      const settings = new Settings(valuesOf(command), command.args, world.env)
      ended(await (await load()).run(settings, world))
    })
  }
  return program
}

/** For what the installed package does not have. */
const needsCheckout = (name: CommandName): string =>
  `${name} needs a checkout of Signalbox: run it there, with npx signalbox ${name}.`

function define(command: Program, definition: Definition): Program {
  const { argument, usage, summary, description, options, own } = definition
  command.summary(summary).description(description).usage(usage)
  // The command itself says what is missing or too much, together with all else that is wrong.
  command.allowExcessArguments()
  if (argument) command.argument(`[${argument.name}]`, argument.help)
  for (const name of options) {
    command.addOption(optionOf(name, own?.[name] ?? OPTIONS[name]))
  }
  const isWithToken = options.includes('token-file')
  return command.addHelpText('after', isWithToken ? `${TOKEN}\n${EXIT_CODES}` : EXIT_CODES)
}

function optionOf(name: OptionName, { value, env, help }: Option): ProgramOption {
  const flags = value === undefined ? `--${name}` : `--${name} <${value}>`
  const option = new ProgramOption(
    flags,
    env === undefined ? help : `${help} (or ${env}${value === undefined ? '=1' : ''})`,
  )
  if (value === undefined) return option
  return option.argParser((text: string, before: readonly string[] = []) => {
    if (!text.startsWith('--')) return [...before, text]
    // `--edge --repo NAME`: the value of the first was forgotten.
    throw new UsageError(`option '${flags}' needs a value.`)
  })
}

const valuesOf = (command: Program): OptionValues =>
  Object.fromEntries(
    command.options.map((option) => {
      const value = command.getOptionValue(option.attributeName())
      // Commander has `--no-config` as a `config` that is true until the option is given.
      return [option.long?.slice(2), option.negate ? value === false || undefined : value]
    }),
  ) as OptionValues

/** A command of two words is listed with the others, so that it is easy to find. */
const formatHelp: Help['formatHelp'] = (command, help) =>
  new Help().formatHelp(command, Object.assign(help, { visibleCommands, subcommandTerm: fullName }))

const visibleCommands = (parent: Program): Program[] =>
  new Help()
    .visibleCommands(parent)
    .flatMap((command) => (command.commands.length > 0 ? visibleCommands(command) : command))
    .filter((command) => command.name() !== 'help')

const fullName = (command: Program): string =>
  command.parent?.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()

/** Commander's message is up to two lines; the second names what was probably meant. */
function sentenceOf({ message }: CommanderError): string {
  const [first = '', nearest] = message.replace(/^error: /, '').split('\n')
  // `--token=…` was meant to be a secret.
  const what = first.replace(/(?<=--[\w-]+)=.*(?=')/, '')
  if (what.endsWith('argument missing'))
    return `${what.replace('argument missing', 'needs a value')}.`
  return `${what} ${nearest ?? '(signalbox --help lists what there is)'}.`
}

const namesOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(record) as Key[]
