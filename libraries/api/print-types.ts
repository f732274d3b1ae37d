// Prints the schemas of the OpenAPI document as TypeScript, for the packages that other programs
// install: their types then need neither zod nor a file of the edge. It knows what our document
// holds, not all of JSON Schema; the usual generator needs the compiler's API, which TypeScript 7
// does not have.

/** The part of JSON Schema that the document uses. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  propertyNames?: JsonSchema
  additionalProperties?: JsonSchema | boolean
  description?: string
  readOnly?: boolean
}

/** One exported declaration. */
export function declaration(name: string, schema: JsonSchema): string {
  const head = schema.properties ? `interface ${name} ` : `type ${name} = `
  return `${comment(schema)}export ${head}${typeOf(schema)}\n`
}

function typeOf(schema: JsonSchema): string {
  const { $ref, enum: values, anyOf, oneOf, type, items, properties } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices) return choices.map(typeOf).join(' | ')
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each })).join(' | ')
  switch (type) {
    case 'array':
      return `${schema.readOnly ? 'readonly ' : ''}(${typeOf(items ?? {})})[]`
    case 'object':
      return properties ? `{\n${membersOf(schema)}}` : recordOf(schema)
    case 'integer':
      return 'number'
    case undefined:
      return 'unknown'
    default:
      return type
  }
}

const membersOf = ({ properties = {}, required = [] }: JsonSchema): string =>
  Object.entries(properties)
    .map(([name, schema]) => {
      const mark = required.includes(name) ? '' : '?'
      return `${comment(schema)}${name}${mark}: ${typeOf(schema)}\n`
    })
    .join('')

function recordOf({ propertyNames, additionalProperties }: JsonSchema): string {
  const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  const record = `Record<${propertyNames?.enum ? typeOf(propertyNames) : 'string'}, ${value}>`
  return propertyNames?.enum ? `Partial<${record}>` : record
}

const COLUMNS = 90

function comment({ description }: JsonSchema): string {
  if (description === undefined) return ''
  const lines = ['']
  for (const word of description.replaceAll('*/', '*\\/').split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && `${line} ${word}`.length > COLUMNS) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`
}
