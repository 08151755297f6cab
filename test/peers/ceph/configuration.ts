/** The configuration of a temporary Ceph cluster with one storage daemon. Paths are those that in-root.sh mounts. */
export interface CephAddresses {
  readonly fsid: string;
  /** `v2:127.0.0.1:PORT` */
  readonly monitorAddress: string;
  /** `127.0.0.1:PORT` */
  readonly gatewayAddress: string;
}

export function cephConfiguration({ fsid, monitorAddress, gatewayAddress }: CephAddresses): string {
  return `[global]
fsid = ${fsid}
mon_host = [${monitorAddress}]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_msgr1 = false
run_dir = /cluster/run
admin_socket = /cluster/run/$name.$pid.asok
log_file =
log_to_file = false
log_to_stderr = true
mon_cluster_log_to_file = false
mon_cluster_log_to_stderr = false

# No keys: only this machine reaches the cluster. Without the mode "crc", radosgw never connects.
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc

# One copy of each object, and few placement groups, whose creation takes most of the start.
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
rgw_rados_pool_pg_num_min = 1
osd_crush_chooseleaf_type = 0

[mon]
mon_data = /cluster/mon
# Each pool of the gateway is a change that the monitor would hold back for a second.
paxos_propose_interval = 0.01
paxos_min_wait = 0.01
# A full disk of the machine is a matter of the tests that run there.
mon_data_avail_crit = 1
mon_data_avail_warn = 2

[mgr]
mgr_data = /cluster/mgr
mgr_initial_modules =

[osd]
osd_data = /cluster/osd
osd_objectstore = bluestore
# A sparse file: it takes the space of its content.
bluestore_block_size = ${32 * 2 ** 30}
osd_mclock_skip_benchmark = true
# A change of a bucket waits this long for a gateway that was killed. The default is 30.
osd_client_watch_timeout = 5
osd_class_load_list = *
osd_class_default_list = *

[client]
# Without tcp_nodelay, a small read waits 40 ms for an acknowledgement that the client delays.
rgw_frontends = beast endpoint=${gatewayAddress} tcp_nodelay=1
rgw_data = /cluster/run
rgw_dynamic_resharding = false
rgw_run_sync_thread = false
`;
}
