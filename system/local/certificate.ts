// The certificate of a shared system's https on the local network. No authority signs it, so each
// browser asks before it takes it, and remembers it: it is made once and kept.

import {
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import * as x509 from '@peculiar/asn1-x509'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'

export interface Certificate {
  /** The certificate and its private key. */
  pem: string
  /** SHA-256, as browsers show it. */
  fingerprint: string
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Apple's browsers take none that is valid for more than 825 days. */
const VALID_MS = 365 * DAY_MS
/** One that expires sooner is replaced: a system may run for days. */
const LEAST_MS = 30 * DAY_MS

/**
 * The one in `file`, or a new one where that has expired or lacks one of the names. `names`: host
 * names and addresses; `file` undefined: it is not kept; `now` in ms.
 */
export async function openCertificate(
  file: string | undefined,
  names: readonly string[],
  now: number,
): Promise<Certificate> {
  const text = file && (await textIn(file))
  const kept = text && usable(text, names, now)
  if (kept) return kept
  const pem = make(names, now)
  if (file) await replacePrivateFile(file, pem)
  return { pem, fingerprint: new X509Certificate(pem).fingerprint256 }
}

function usable(pem: string, names: readonly string[], now: number): Certificate | undefined {
  try {
    const it = new X509Certificate(pem)
    const isFor = (name: string) => (isIP(name) ? it.checkIP(name) : it.checkHost(name))
    const isValid = Date.parse(it.validTo) - now > LEAST_MS && Date.parse(it.validFrom) <= now
    const isWhole = it.checkPrivateKey(createPrivateKey(pem))
    if (isValid && isWhole && names.every(isFor)) return { pem, fingerprint: it.fingerprint256 }
  } catch {
    // Not our writing: a new one takes its place.
  }
  return undefined
}

const COMMON_NAME = '2.5.4.3'
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'

/** For a TLS server of these names. The library writes X.509; key and signature are Node's. */
function make(names: readonly string[], now: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const value = new x509.AttributeValue({ utf8String: 'Signalbox' })
  const attribute = new x509.AttributeTypeAndValue({ type: COMMON_NAME, value })
  const name = new x509.Name([new x509.RelativeDistinguishedName([attribute])])
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const extension = (extnID: string, critical: boolean, value: object) => {
    const extnValue = new OctetString(AsnConvert.serialize(value))
    return new x509.Extension({ extnID, critical, extnValue })
  }
  const generalName = (name: string) =>
    new x509.GeneralName(isIP(name) ? { iPAddress: name } : { dNSName: name })
  const tbsCertificate = new x509.TBSCertificate({
    version: x509.Version.v3,
    // A first byte of 1: it must be neither negative nor padded.
    serialNumber: new Uint8Array([1, ...randomBytes(15)]).buffer,
    signature: algorithm,
    issuer: name,
    subject: name,
    validity: new x509.Validity({
      // The clock of the phone may be behind.
      notBefore: new Date(now - DAY_MS),
      notAfter: new Date(now + VALID_MS),
    }),
    subjectPublicKeyInfo: AsnConvert.parse(
      publicKey.export({ type: 'spki', format: 'der' }),
      x509.SubjectPublicKeyInfo,
    ),
    extensions: new x509.Extensions([
      extension(x509.id_ce_basicConstraints, true, new x509.BasicConstraints()),
      extension(x509.id_ce_keyUsage, true, new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature)),
      extension(x509.id_ce_extKeyUsage, false, new x509.ExtendedKeyUsage([x509.id_kp_serverAuth])),
      extension(
        x509.id_ce_subjectAltName,
        false,
        new x509.SubjectAlternativeName(names.map(generalName)),
      ),
    ]),
  })
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey)
  const signatureValue = new Uint8Array(signature).buffer
  const whole = { tbsCertificate, signatureAlgorithm: algorithm, signatureValue }
  const certificate = Buffer.from(AsnConvert.serialize(new x509.Certificate(whole)))
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return `${new X509Certificate(certificate)}${key}`
}
