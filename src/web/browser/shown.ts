/** After a page that is shown once, a reload goes on instead of submitting again. */
const on = document.querySelector<HTMLAnchorElement>('a[data-shown-once]')
if (on) history.replaceState(null, '', on.href)
