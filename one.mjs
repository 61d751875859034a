await import('hono/html')
