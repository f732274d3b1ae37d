import { describe, expect, it } from 'vitest'
import { maskSecrets } from '../../../sidecar/files/mask-secrets.ts'
import { cpuMs } from '../../support/cpu-time.ts'

/** Put together here, so that nobody who looks for secrets finds one in this file. */
const some = (mark: string, length: number, letters = 'aB3dE6gH9jK2') =>
  mark + letters.repeat(Math.ceil(length / letters.length)).slice(0, length)
const BASE64 = some('', 64)
const JWT = ['eyJhbGciOiJIUzI1NiJ9', some('eyJ', 30), some('', 43)].join('.')
const pem = (kind: string) =>
  `-----BEGIN ${kind}-----\n${BASE64}\n${BASE64}\nab12Cd==\n-----END ${kind}-----`

/** A private key's first lines are, and its marks stay. */
const hiddenPart = (secret: string) => (secret.includes('----') ? BASE64 : secret.slice(-20, -4))

const SECRETS: Record<string, string> = {
  'AWS key id': some('AKIA', 16, 'ABCDEFGH2345'),
  'GitHub token': some('ghp_', 36),
  'GitHub fine-grained token': some('github_pat_', 82),
  'GitLab token': some('glpat-', 20),
  'Slack token': some('xoxb-123456789012-', 24),
  'Slack webhook': `https://${some('hooks.slack.com/services/T01/B02/', 24)}`,
  'Stripe key': some('sk_live_', 24),
  'webhook secret': some('whsec_', 32),
  'Google API key': some('AIza', 35),
  'npm token': some('npm_', 36),
  'OpenAI key': some('sk-proj-', 60),
  'Anthropic key': some('sk-ant-api03-', 93),
  'SendGrid key': some('SG.aB3dE6gH9jK2aB3d.', 43),
  'Telegram bot': `123456789:${some('AA', 33)}`,
  JWT,
  'private key': pem('RSA PRIVATE KEY'),
  'PGP key': pem('PGP PRIVATE KEY BLOCK'),
}

describe('a secret by its looks', () => {
  it.each(Object.entries(SECRETS))('%s is hidden, wherever it stands', (_, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['x ', ' y'],
      ['{"a":"', '","b":1}'],
      ['https://host/?q=', '&r=1'],
    ]) {
      const masked = maskSecrets(`${before}${secret}${after}`)
      expect(masked).not.toContain(hiddenPart(secret))
      expect(masked).toContain('[redacted]')
      expect(masked.startsWith(before ?? '')).toBe(true)
      expect(masked.endsWith(after ?? '')).toBe(true)
    }
  })

  it.each([
    ['a key whose end was cut off', `${pem('PRIVATE KEY').slice(0, 110)}`],
    ['a key whose beginning was cut off', `${pem('PRIVATE KEY').slice(40)}`],
    ['a key in JSON', JSON.stringify({ key: pem('PRIVATE KEY') })],
  ])('%s is hidden', (_, text) => {
    expect(maskSecrets(`one\n${text}\nsecond line`)).not.toContain(BASE64.slice(10, 30))
    expect(maskSecrets(`one\n${text}\nsecond line`)).toMatch(/^one\n[\s\S]*second line$/)
  })

  it('of a key that is only spoken of, nothing after it is', () => {
    const text = 'expected -----BEGIN PRIVATE KEY-----\nbut got: nothing at all\n'
    expect(maskSecrets(text)).toBe(text)
  })
})

describe('a secret by the name before it', () => {
  it.each([
    ['AWS_SECRET_ACCESS_KEY=wJal+rX/UtnFEMI', 'AWS_SECRET_ACCESS_KEY=[redacted]'],
    ['export DB_PASSWORD="it\'s me"', 'export DB_PASSWORD="[redacted]"'],
    ['DB_PASSWORD=a&b;c X=1', 'DB_PASSWORD=[redacted] X=1'],
    ['SIGNING_KEY=abc PGPASSWORD=x psql', 'SIGNING_KEY=[redacted] PGPASSWORD=[redacted] psql'],
    ['SECRET_KEY_BASE=0123', 'SECRET_KEY_BASE=[redacted]'],
    ['callback?access_token=abc&state=1', 'callback?access_token=[redacted]&state=1'],
    ['{"password":"hunter2","user":"ann"}', '{"password":"[redacted]","user":"ann"}'],
    ['{\\"apiKey\\":\\"abc\\"}', '{\\"apiKey\\":\\"[redacted]"}'],
    ["{ clientSecret: 'abc', id: 1 }", "{ clientSecret: '[redacted]', id: 1 }"],
    ['  password: correct-horse', '  password: [redacted]'],
    ['token: tok1234 for ann', 'token: [redacted] for ann'],
    ['token = password=abc', 'token = [redacted]'],
    ['aws_secret_access_key = wJal123', 'aws_secret_access_key = [redacted]'],
    ['//registry.npmjs.org/:_authToken=abc', '//registry.npmjs.org/:_authToken=[redacted]'],
    ['login --token abc --user ann', 'login --token [redacted] --user ann'],
    ['login --password "two words" ann', 'login --password "[redacted]" ann'],
    ['curl -u ann:hunter2 https://a.test', 'curl -u ann:[redacted] https://a.test'],
    ['> Authorization: Bearer abc', '> Authorization: Bearer [redacted]'],
    ["curl -H 'Authorization: Basic YTpi' x", "curl -H 'Authorization: Basic [redacted]' x"],
    ['Bearer 0123456789', 'Bearer [redacted]'],
    ['{ authorization: `Bearer key` }', '{ authorization: `Bearer [redacted]` }'],
    ['< set-cookie: sid=abc; Path=/', '< set-cookie: [redacted]'],
    ['postgres://ann:hunter2@db:5432/x', 'postgres://ann:[redacted]@db:5432/x'],
    ['redis://:p@ss@cache:6379', 'redis://:[redacted]@cache:6379'],
    [`https://${some('', 40)}@git.test/x`, 'https://[redacted]@git.test/x'],
    ['AccountKey=abc==;EndpointSuffix=x', 'AccountKey=[redacted]'],
    ['AUTH_SECRETS=one-secret', 'AUTH_SECRETS=[redacted]'],
    ['API_TOKENS="one two"', 'API_TOKENS="[redacted]"'],
    ['{"passwords": "a,b"}', '{"passwords": "[redacted]"}'],
    ['PASS=hunter2 GH_PAT=abc', 'PASS=[redacted] GH_PAT=[redacted]'],
    ["{ user: 'ann', pass: 'hunter2' }", "{ user: 'ann', pass: '[redacted]' }"],
    ['Server=db;Uid=ann;Pwd=hunter2;', 'Server=db;Uid=ann;Pwd=[redacted];'],
    ["{'password': b'hunter2'}", "{'password': b'[redacted]'}"],
    [
      '  - token: |-\n      abc\n      def\n  - next: 1',
      '  - token: |-\n    [redacted]\n  - next: 1',
    ],
    ['<password>hunter2</password>', '<password>[redacted]</password>'],
    ['{"auth": "YW5uOmh1bnRlcjI="}', '{"auth": "[redacted]"}'],
    ['//registry.test/:_auth=YW5uOmh1', '//registry.test/:_auth=[redacted]'],
    ['https://a.test/c?sv=1&sig=ab%3D&se=2', 'https://a.test/c?sv=1&sig=[redacted]&se=2'],
    ['ann:hunter2@tcp(db:3306)/x', 'ann:[redacted]@tcp(db:3306)/x'],
  ])('%s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked)
    expect(maskSecrets(masked)).toBe(masked)
  })
})

describe('a secret in colours', () => {
  const red = (text: string) => `\u001b[31;1m${text}\u001b[39m`
  it.each([
    [`{ token: ${red("'abc'")} }`, "{ token: '[redacted]' }"],
    [`${red('"password"')}: ${red('"abc"')}`, '"password": "[redacted]"'],
    [`${red('API_TOKEN')}=${red('abc')}`, 'API_TOKEN=[redacted]'],
    [`${red('Authorization')}: ${red('Bearer abc')}`, 'Authorization: Bearer [redacted]'],
    [red(some('ghp_', 36)), '[redacted]'],
  ])('%j is hidden', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked)
  })

  it('is hidden in the address of a link, too', () => {
    const link = (url: string) => `\u001b]8;;${url}\u001b\\here\u001b]8;;\u001b\\`
    const text = link('https://a.test/?access_token=abc1234&x=1')
    expect(maskSecrets(text)).toBe(link('https://a.test/?access_token=[redacted]&x=1'))
  })

  it('is why colours go: where nothing is hidden they stay', () => {
    const text = `${red('FAIL')} 3 of 12 ${red('tokens')}: 1500`
    expect(maskSecrets(text)).toBe(text)
  })
})

describe('what a log says otherwise', () => {
  it.each([
    'ok 12 - 3 tokens, 1500 tokens/s, tokens: 1500',
    'SyntaxError: Unexpected token }',
    'const token = await mint(repo)',
    'monkey=5 cache_key=user:42 key: value keyboard=us',
    'password=undefined token: null',
    '  token: string,',
    'function check(token: string): Promise<Grant> {',
    'no `PASSWORD=`, and no other',
    'http://127.0.0.1:8787/#/board/LAMP-4 and ann@example.org',
    'docker run -u 1000:1000 image',
    'the bearer of bad news; basic authentication',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'import { token } from "../support/edge.ts"',
    'task-management sk-learn ask-me',
    'MAX_TOKENS=4096 prompt_tokens=123456 {"total_tokens": 123456, "output_tokens": "7000000"}',
    'PASS=12 FAIL=0 PWD=/home/ann pass: 12 # pass 1234567 {"pass": true}',
    '<token>\n</token> <secrets> password: |',
  ])('%s stays', (text) => {
    expect(maskSecrets(text)).toBe(text)
  })
})

describe('a long output', () => {
  const CHARS = 512 << 10
  const of = (part: string) => part.repeat(Math.ceil(CHARS / part.length)).slice(0, CHARS)
  const line =
    '2026-01-01T10:00:00Z INFO server.ts:120 GET /api/items?id=42 200 user=jane 4bf92f35\n'
  // Each begins to look like a secret at every place, or nearly.
  // biome-ignore format: several texts a line.
  const hostile = [
    'a', 'A', '-', '\\', '"', '\n', ' ', 'eyJ', 'eyJ-', 'eyJ.', 'sk-', '://', '://a:', 'a@',
    'token="', 'token=\'"', 'token: ', 'token = ', '   -   token:', '_KEY=', '--token ', '--a-',
    'token: |\n a', 'token: |\n', '<token>', 'pass: "', ';pwd=', '?sig=', 'a:b', 'a.', '"auth":"',
    '\u001b', '\u001b[', '\u001b[1', '\u001b]', '\u001b[0m', '\u001b]8;;a', 'secrets=1', 'Bearer ',
    'authorization:', 'cookie: a ', ' -u a:', 'SG.', 'token\\\\\\"', 'tokentoken=',
    '-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', `${BASE64}\n`, `-----\n${BASE64}`,
  ]
  it.each([line, ...hostile])('of %j is masked in a moment', async (part) => {
    const text = of(part)
    // 5 to 80 ms on a quiet machine. A pattern that goes over the text again and again takes minutes.
    expect(await cpuMs(() => maskSecrets(text))).toBeLessThan(2_000)
  })
})
