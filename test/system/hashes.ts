/** Preloaded into the program: it counts the hashes of passwords, and says how many were since asked last. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

let hashes = 0
let asked = 0
const { argon2 } = crypto
crypto.argon2 = (...given) => {
  hashes++
  argon2(...given)
}
syncBuiltinESMExports()

process.on('SIGUSR2', () => {
  console.log(`count ${++asked}: ${hashes} hashes`)
  hashes = 0
})
