// The name of the board in the header, and the list of those that the session may see. Each is a
// link, so it also opens in a tab of its own, and Back leads to the board before.

import { computed } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ListedBoard } from '../../libraries/api/types.ts'
import { toolOf } from '../../worker/shared/layouts.ts'
import { lastPart } from '../../worker/shared/repos.ts'
import { forgetBoard, listed, watchBoards } from '../data/boards.ts'
import { problemText } from '../data/http.ts'
import { canSwitch, knownPaths, live } from '../data/live.ts'
import { may, session } from '../data/session.ts'
import { linkTo, route } from '../router.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Dialog, Field } from '../ui/elements.tsx'
import { count, LOADING, number } from '../ui/format.ts'
import { useKey } from '../ui/keyboard.ts'
import { Age, now } from '../ui/time.tsx'
import { type Entry, entriesOf, namesOf } from './boards.ts'
import { boardLamp } from './lamp.ts'

const names = computed(() => namesOf(listed.value ?? []))

/** Also in the title, which names the tab. */
export function Name() {
  const path = live.value?.path
  const board = path === undefined ? undefined : (names.value.get(path) ?? lastPart(path))
  useEffect(() => {
    if (board !== undefined) document.title = `Signalbox · ${board}`
    return () => {
      document.title = 'Signalbox'
    }
  }, [board])
  // The view of boards has the list itself, until one is chosen.
  const hasList = canSwitch.value && (path !== undefined || route.value.view !== 'board')
  if (hasList) return <Switcher path={path} name={board} />
  return (
    <span class="name" title={path}>
      <span class="product">Signalbox</span>
      {board !== undefined && <bdi>{board}</bdi>}
    </span>
  )
}

interface SwitcherProps {
  /** The path of the board that is shown. */
  path: string | undefined
  name: string | undefined
}

function Switcher({ path, name: text = 'Boards' }: SwitcherProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useKey('b', () => setOpen(true))
  return (
    <>
      <span class="name" title={path}>
        <span class="product">Signalbox</span>
        <button
          ref={button}
          type="button"
          class="quiet small"
          aria-haspopup="dialog"
          aria-keyshortcuts="b"
          aria-label={`${text}: choose another board`}
          onClick={() => setOpen(true)}
        >
          <bdi>{text}</bdi>
        </button>
      </span>
      {isOpen && (
        <Dialog title="Boards" onClose={() => setOpen(false)}>
          {/* Filters and an open task are of the board that is left. */}
          <BoardList
            hrefOf={(to) => linkTo({ view: 'board', path: to })}
            onChosen={(list) => {
              list.closest('dialog')?.close()
              // What had the focus before goes away with its board.
              button.current?.focus()
            }}
          />
        </Dialog>
      )}
    </>
  )
}

/** Shown where the address names no board, and the session several. */
export const BoardPicker = () => (
  <section class="picker">
    <h1>Which board?</h1>
    <p>Your session is valid for more than one.</p>
    <BoardList hrefOf={(path) => linkTo({ ...route.value, path })} />
  </section>
)

/** There, the keyboard on the screen would cover the list. */
const HAS_TOUCH = matchMedia('(pointer: coarse)').matches
/** Others are found by typing. */
const SHOWN = 100

interface BoardListProps {
  hrefOf(path: string): string
  onChosen?(list: Element): void
}

function BoardList({ hrefOf, onChosen }: BoardListProps) {
  const problem = useBoards()
  const [text, setText] = useState('')
  const current = live.value?.path
  const repos = session.value.name === 'signed-in' ? session.value.session.repos : []
  const named = [...knownPaths.value, ...(current === undefined ? [] : [current])]
  const entries = entriesOf({ listed: listed.value ?? [], repos, named, text })
  return (
    <search
      class="boards"
      onKeyDown={moveByKey}
      onClick={(event) => {
        const { target, currentTarget, ctrlKey, metaKey, shiftKey } = event
        // What opens another tab does not close the list of this one.
        if (ctrlKey || metaKey || shiftKey || !(target instanceof Element)) return
        if (target.closest('a')) onChosen?.(currentTarget)
      }}
    >
      <Field
        label="Find by name, folder or tool"
        type="search"
        autocomplete="off"
        spellcheck={false}
        autofocus={!HAS_TOUCH}
        value={text}
        onText={setText}
      />
      <p class="hint" role="status">
        {listed.value === undefined && problem === undefined
          ? LOADING
          : entries.length === 0
            ? 'No board matches.'
            : count(entries.length, 'board')}
      </p>
      <p class="problem-line" role="alert">
        {problem !== undefined && `The list of boards cannot be read. ${problem}`}
      </p>
      <ul>
        {entries.slice(0, SHOWN).map((entry) => (
          <li key={entry.path}>
            <EntryLink entry={entry} href={hrefOf(entry.path)} isCurrent={entry.path === current} />
            <Forget entry={entry} />
          </li>
        ))}
      </ul>
      {entries.length > SHOWN && (
        <p class="hint">{number(entries.length - SHOWN)} more: type to find them.</p>
      )}
    </search>
  )
}

/** Reads them while the list is shown. Returns why they cannot be read. */
function useBoards() {
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const reading = watchBoards((now) =>
      setProblem(now.name === 'unreachable' ? problemText(now.problem) : undefined),
    )
    return () => reading.close()
  }, [])
  return problem
}

interface EntryLinkProps {
  entry: Entry
  href: string
  isCurrent: boolean
}

function EntryLink({ entry: { path, name, board }, href, isCurrent }: EntryLinkProps) {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      <strong dir="auto">{name}</strong>
      <bdi class="path mono">{path}</bdi>
      <span class="row hint">
        {board ? <About board={board} /> : 'No sidecar has reported it.'}
      </span>
    </a>
  )
}

/** For people who may, and one that is gone: if it is published again, it is listed again. */
function Forget({ entry: { path, name, board } }: { entry: Entry }) {
  if (!board || board.sidecar.state === 'running' || !may('board:write')) return null
  return (
    <ActionButton label={`Take ${name} off the list`} act={() => forgetBoard(path)}>
      Take off the list
    </ActionButton>
  )
}

function About({ board }: { board: ListedBoard }) {
  const { layout, counts, lastChangeAt } = board
  const shown = live.value?.path === board.path ? live.value.state.value : undefined
  const wrong = boardLamp(board, now.value, shown)
  return (
    <>
      <span>{toolOf(layout)}</span>
      <span>
        {number(counts.tasks - counts.closed)} open, {number(counts.closed)} closed
      </span>
      {lastChangeAt !== undefined && (
        <span>
          changed <Age at={lastChangeAt} />
        </span>
      )}
      {wrong && <span class={`lamp ${wrong.lamp}`}>{wrong.text}</span>}
    </>
  )
}

/** The arrow keys move between the field and the links. What is typed goes to the field. */
function moveByKey(event: KeyboardEvent): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return
  const list = event.currentTarget as HTMLElement
  const [field, ...links] = list.querySelectorAll<HTMLElement>('input, li a')
  const at = links.indexOf(event.target as HTMLElement)
  const dialog = list.closest('dialog')
  // The browser would only empty the field.
  if (event.key === 'Escape' && dialog) dialog.close()
  else if (event.key === 'Enter' && event.target === field) links[0]?.click()
  else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus()
  else if (event.key === 'ArrowUp') (links[at - 1] ?? field)?.focus()
  else if (event.key === 'Home' && at !== -1) links[0]?.focus()
  else if (event.key === 'End' && at !== -1) links.at(-1)?.focus()
  else {
    // The key itself follows, and is typed where the focus is then.
    if (at !== -1 && (event.key.length === 1 || event.key === 'Backspace')) field?.focus()
    return
  }
  event.preventDefault()
}
