// A table, told once: the type of its rows, its columns, what a new row has that nobody gives it,
// and what is shown of it as it is. Pure.

import { isoTime } from './time.ts'

/**
 * `Shown`: what the API has of it, under the column's name in camel case; never: nothing. Exported,
 * since the declarations of the package name it.
 */
export interface Column<Value, Shown = never> {
  /** The value, as it is read and written. Only its type is of use. */
  readonly value?: Value
  readonly isNullable: boolean
  readonly show: ((value: never) => Shown) | undefined
  /** NULL is stored where nothing is given, and is not shown. */
  orNull(): Column<Value | null, Shown>
}

const column = <Value, Shown>(
  show: ((value: never) => Shown) | undefined,
  isNullable = false,
): Column<Value, Shown> => ({
  isNullable,
  show,
  orNull: () => column<Value | null, Shown>(show, true),
})

/** Is not shown, or not as it is. */
export const inner = <Value extends string | number>() => column<Value, never>(undefined)
/** Is shown as it is. */
export const plain = <Value extends string | number>() =>
  column<Value, Value>((value: Value) => value)
/** In ms; shown in ISO 8601. */
export const time = () => column<number, string>(isoTime)
/** A text, which stays text in its row: one whose JSON is broken fails only what reads it. */
export const asJson = <Value>() =>
  column<string, Value>((text: string) => JSON.parse(text) as Value)

type Columns = Readonly<Record<string, Column<unknown, unknown>>>

type Row<Of> = { [Name in keyof Of]: Of[Name] extends Column<infer Value, unknown> ? Value : never }
export type RowOf<Of extends { columns: Columns }> = Row<Of['columns']>

type Nullable<Of> = {
  [Name in keyof Of]: null extends Row<Of>[Name] ? Name : never
}[keyof Of]
/** A new row: what may be NULL may be left out. */
type Given<Of> = Omit<Row<Of>, Nullable<Of>> & Partial<Row<Of>>

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name
type ShownNames<Of> = {
  [Name in keyof Of]: Of[Name] extends Column<unknown, infer Shown>
    ? [Shown] extends [never]
      ? never
      : Name
    : never
}[keyof Of]
type ShownValue<Of> = Of extends Column<unknown, infer Shown> ? Shown : never
type Shown<Of> = {
  [Name in Exclude<ShownNames<Of>, Nullable<Of>> as Camel<Name>]: ShownValue<Of[Name]>
} & {
  [Name in Extract<ShownNames<Of>, Nullable<Of>> as Camel<Name>]?: ShownValue<Of[Name]>
}

/** `name`: the table's own, in the database. */
export function table<const Of extends Columns>(name: string, columns: Of) {
  const names = Object.keys(columns) as (keyof Of & string)[]
  // Read from JSON, since the runtime gives such an object a shape, which all of its copies share.
  // Made key by key, one of so many columns would be a dictionary, and its copies twice as slow.
  const empty = JSON.parse(`{${names.map((column) => `"${column}":null`).join()}}`) as Row<Of>
  const shown = Object.entries(columns).flatMap(([column, { show }]) =>
    show ? [{ column, as: camelCase(column), show: show as (value: unknown) => unknown }] : [],
  )
  return {
    name,
    columns,
    names: names as readonly (keyof Of & string)[],
    row: (given: Given<Of>): Row<Of> => ({ ...empty, ...given }),
    /** `values`: of all columns, in their order. */
    rowOf(values: readonly unknown[]): Row<Of> {
      const row: Record<string, unknown> = { ...empty }
      for (const [at, column] of names.entries()) row[column] = values[at]
      return row as Row<Of>
    },
    /** Throws for what no code writes: a time that no date has, a text that is not JSON. */
    show(row: Row<Of>): Shown<Of> {
      const values = row as Readonly<Record<string, unknown>>
      const out: Record<string, unknown> = {}
      for (const { column, as, show } of shown) {
        const value = values[column]
        if (value !== null) out[as] = show(value)
      }
      return out as Shown<Of>
    },
  }
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
