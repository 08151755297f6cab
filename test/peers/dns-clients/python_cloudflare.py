"""python-cloudflare: adds, changes, lists and deletes a record. Arguments: the token, the zone."""

import sys

import CloudFlare

token, zone_name = sys.argv[1:]
api = CloudFlare.CloudFlare(token=token)
zone = api.zones.get(params={"name": zone_name})[0]["id"]
name = f"python.{zone_name}"
made = api.zones.dns_records.post(zone, data={"type": "A", "name": name, "content": "192.0.2.4"})
api.zones.dns_records.patch(zone, made["id"], data={"content": "192.0.2.5"})
for record in api.zones.dns_records.get(zone, params={"name": name}):
    print(record["type"], record["content"])
api.zones.dns_records.delete(zone, made["id"])
print(len(api.zones.dns_records.get(zone, params={"name": name})), "left")
