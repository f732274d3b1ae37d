// Routes of the page, parsed from and formatted to the URL. Pure. A route is in the fragment, so
// that the edge serves one page, and all other paths belong to the host application.

export type View = 'board' | 'happened' | 'notices' | 'payments' | 'books' | 'sign-in'

export interface Route {
  view: View
  /** The open task or transaction, or the code of a sign-in link. */
  id?: string
  /** The path of the board that this tab shows. Undefined until it is known. */
  path?: string | undefined
  /** Filters. */
  query: Readonly<Record<string, string>>
}

const VIEWS: readonly string[] = [
  'board',
  'happened',
  'notices',
  'payments',
  'books',
  'sign-in',
] satisfies View[]
const isView = (name: string | undefined): name is View =>
  name !== undefined && VIEWS.includes(name)

/** `#/board/LAMP-4?status=todo&path=/home/mira/shop`. An unknown view is the board. */
export function parseRoute(hash: string): Route {
  const [location = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const [view, ...parts] = location.split('/').filter(Boolean)
  const { path, ...query } = Object.fromEntries(new URLSearchParams(search))
  const rest = { ...(path && { path }), query }
  if (!isView(view)) return { view: 'board', ...rest }
  // People type the slash of an id as it is.
  return parts.length === 0 ? { view, ...rest } : { view, id: decode(parts.join('/')), ...rest }
}

/** What a link needs of a route. */
export type Link = Partial<Route> & { view: View }

/** Omits empty filters, so that the same view always has the same URL. */
export function formatRoute({ view, id, path = '', query = {} }: Link): string {
  const location = id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`
  const entries = Object.entries({ ...query, path }).filter(([, value]) => value !== '')
  // The slashes of a path need no escape, and people read it.
  const search = `${new URLSearchParams(entries)}`.replaceAll('%2F', '/')
  return search === '' ? location : `${location}?${search}`
}

/** A URL that was typed by hand may contain a stray percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
