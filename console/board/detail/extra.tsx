// Fields of the file that Signalbox does not know, as they stand there.

export function Extra({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="task-facts extra">
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {typeof value === 'string' ? value : <pre>{JSON.stringify(value, undefined, 2)}</pre>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
