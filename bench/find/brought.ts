/** Public data that is brought for a run, compared with its checksum, and not kept. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PublicFile {
  /** `owner/name` on GitHub. */
  readonly repository: string
  readonly commit: string
  readonly path: string
  readonly sha256: string
  /** The environment variable that names a directory which holds the file. */
  readonly variable: string
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) })
  if (!response.ok) throw new Error(`it was answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/** Throws what to do where it cannot be had. */
export async function bring({ repository, commit, path, sha256, variable }: PublicFile) {
  const directory = process.env[variable]
  const name = path.slice(path.lastIndexOf('/') + 1)
  const from = directory
    ? join(directory, name)
    : `https://raw.githubusercontent.com/${repository}/${commit}/${path}`
  try {
    const file = directory ? readFileSync(from) : await download(from)
    const sum = createHash('sha256').update(file).digest('hex')
    if (sum !== sha256) throw new Error(`its SHA-256 is ${sum}, not ${sha256}`)
    return file
  } catch (cause) {
    const why = cause instanceof Error ? String(cause.cause ?? cause.message) : String(cause)
    const advice = `Set ${variable} to a directory that holds ${name} of github.com/${repository} at ${commit}.`
    throw new Error(`${name} cannot be had from ${from}: ${why}. ${advice}`, { cause })
  }
}
