// The filters of the transactions. They are in the URL, so that a filtered list can be shared.

import { useId, useRef } from 'preact/hooks'
import { replace, route } from '../../router.ts'
import { useKey } from '../../ui/keyboard.ts'
import type { Feed } from '../feed/feed.ts'
import { filtersOf, isFiltering, STATUSES } from '../feed/filters.ts'
import { paymentWords } from '../words.ts'

export function FilterBar({ feed }: { feed: Feed }) {
  const { list: texts, status: statuses } = paymentWords
  const { query } = route.value
  const filters = filtersOf(query)
  const ids = { search: useId(), status: useId(), gateway: useId() }
  const search = useRef<HTMLInputElement>(null)
  useKey('/', () => search.current?.focus())
  const set = (name: string) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement | HTMLSelectElement
    replace({ view: 'payments', query: { ...query, [name]: value } })
  }
  const gateways = feed.gateways.value?.map(({ key }) => key) ?? []
  // A gateway that is no longer configured may still have payments.
  const all = filters.gateway && !gateways.includes(filters.gateway) ? [filters.gateway] : []
  return (
    <form
      class="transaction-filters"
      aria-label={texts.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      <label class="visually-hidden" for={ids.search}>
        {texts.search}
      </label>
      <input
        id={ids.search}
        ref={search}
        type="search"
        maxLength={255}
        aria-keyshortcuts="/"
        placeholder={texts.search}
        spellcheck={false}
        autocomplete="off"
        value={query.q ?? ''}
        onInput={set('q')}
      />
      <span class="field">
        <label for={ids.status}>{texts.status}</label>
        <select id={ids.status} value={filters.status ?? ''} onChange={set('status')}>
          <option value="">{texts.any}</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {statuses[status]}
            </option>
          ))}
        </select>
      </span>
      <span class="field">
        <label for={ids.gateway}>{texts.gateway}</label>
        <select id={ids.gateway} value={filters.gateway ?? ''} onChange={set('gateway')}>
          <option value="">{texts.any}</option>
          {[...gateways, ...all].map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </span>
      {filters.reference && <span class="only">{texts.onlyReference(filters.reference)}</span>}
      {isFiltering(filters) && (
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            replace({ view: 'payments', query: {} })
            // This button disappears with the filters.
            search.current?.focus()
          }}
        >
          {texts.clear}
        </button>
      )}
    </form>
  )
}
