/**
 * The certificate of client.example, which nobody trusts but who is told to. It was made once, for a
 * hundred years, because Node.js makes none:
 * `openssl req -x509 -new -key key.pem -days 36500 -subj /CN=client.example -addext subjectAltName=DNS:client.example`
 */
export const HOST = 'client.example'

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3aDGcob7UNKyGaW+
t+p5V1mkSpad2xdWuS5DBlc4c66hRANCAASMpDYyHL8ZcLyslbEHtNAx0eDAuHw5
9ty4CXb49OUL9mL2QJ9RGI013rVGjOdO7yvjCeHYXr0pud6kW53G6ELA
-----END PRIVATE KEY-----`

export const cert = `-----BEGIN CERTIFICATE-----
MIIBozCCAUqgAwIBAgIUO/6HPEnDRxGmxCeoNZexVIiJpYIwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY2xpZW50LmV4YW1wbGUwIBcNMjYxMTI1MTQyMzQ2WhgPMjEy
NjExMDExNDIzNDZaMBkxFzAVBgNVBAMMDmNsaWVudC5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEjKQ2Mhy/GXC8rJWxB7TQMdHgwLh8OfbcuAl2+PTl
C/Zi9kCfURiNNd61RoznTu8r4wnh2F69KbnepFudxuhCwKNuMGwwHQYDVR0OBBYE
FM5/eBBO8K9f4lgOK2aiT/d3DVJlMB8GA1UdIwQYMBaAFM5/eBBO8K9f4lgOK2ai
T/d3DVJlMA8GA1UdEwEB/wQFMAMBAf8wGQYDVR0RBBIwEIIOY2xpZW50LmV4YW1w
bGUwCgYIKoZIzj0EAwIDRwAwRAIgRNsEPXDAx3BiWB4v4ZaA/3RLyLy7nGSnSE5G
66JBla4CIFfJ8dSMbpqtpcARceQGAyAQPtAm8Ri09OWPdv2etLwI
-----END CERTIFICATE-----`
