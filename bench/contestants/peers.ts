/** Peers from the npm registry, where `bench/` has installed them. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const peerProgram = (name: string): string => at(`../node_modules/.bin/${name}`)

export const needsPeer = (name: string) => () =>
  existsSync(peerProgram(name)) ? undefined : `${name} (npm ci in bench/)`
