/**
 * `agent-home` for shells, without a process of Node.js for each command: a script hands its words,
 * its place and what is piped to it to this process.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { freshDirectory } from './program.ts'
import { speakAt } from './spoken-at.ts'

/** Files, because the words, the input and what is said are any bytes. */
const scriptIn = (folder: string): string => `
own="${folder}/$$"
printf '%s\\0' "$PWD" "$AGENT_HOME_TOKEN" "$@" > "$own.words"
if [ -p /dev/stdin ]; then cat; fi > "$own.input"
code=$(curl -sS --unix-socket "${folder}/socket" "http://here/$$")
cat "$own.out"
cat "$own.err" >&2
exit $code`

type Env = Readonly<Record<string, string>>

async function answer(own: string, env: Env): Promise<number> {
  const [directory = '', AGENT_HOME_TOKEN = '', ...words] = readFileSync(`${own}.words`, 'utf8')
    .split('\0')
    .slice(0, -1)
  const typed = readFileSync(`${own}.input`, 'utf8')
  const place = { directory, env: { ...env, AGENT_HOME_TOKEN } }
  const { code, stdout, stderr } = await speakAt(place, words, typed)
  writeFileSync(`${own}.out`, stdout)
  writeFileSync(`${own}.err`, stderr)
  return code
}

/** Work that is given the text of the script, whose commands have this environment. */
export async function spokenInShell(
  env: Env,
  work: (script: string) => Promise<void>,
): Promise<void> {
  const folder = freshDirectory()
  const server = createServer((request, response) => {
    answer(folder + request.url, env).then(
      (code) => response.end(String(code)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve))
  try {
    await work(scriptIn(folder))
  } finally {
    server.close()
  }
}
