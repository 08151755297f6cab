// Puts objects with minio-go in each way that it frames and checks a body, and compares what it gets back.
//
// Usage: main URL BUCKET. Prints a line for each case: its name, and "ok" or the error.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	partSize = 5 << 20
	// Two whole parts and a shorter one.
	largeSize = 2*partSize + 70_001
)

// Hides Seek and ReadAt of a reader, so that minio-go has to read it as a stream.
type stream struct{ io.Reader }

var sizes = []int{0, 5, 70_001, largeSize}

var ways = []struct {
	name string
	// The program does not tell minio-go the length.
	unknownLength bool
	options       minio.PutObjectOptions
}{
	{name: "plain"},
	{name: "as a stream", unknownLength: true},
	{name: "as a concurrent stream", unknownLength: true,
		options: minio.PutObjectOptions{ConcurrentStreamParts: true, NumThreads: 2}},
	{name: "with Content-MD5", options: minio.PutObjectOptions{SendContentMd5: true}},
	{name: "as a stream with Content-MD5", unknownLength: true,
		options: minio.PutObjectOptions{SendContentMd5: true}},
	{name: "without a hash", options: minio.PutObjectOptions{DisableContentSha256: true}},
	{name: "without parts", options: minio.PutObjectOptions{DisableMultipart: true}},
}

func content(size int) []byte {
	body := make([]byte, size)
	state := uint32(1)
	for index := range body {
		state = state*1_664_525 + 1_013_904_223
		body[index] = byte(state >> 24)
	}
	return body
}

func get(client *minio.Client, bucket, key string, options minio.GetObjectOptions) ([]byte, error) {
	object, err := client.GetObject(context.Background(), bucket, key, options)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	return io.ReadAll(object)
}

func expectContent(client *minio.Client, bucket, key string, expected []byte) error {
	found, err := get(client, bucket, key, minio.GetObjectOptions{})
	if err == nil && !bytes.Equal(found, expected) {
		return fmt.Errorf("%d other bytes instead of %d", len(found), len(expected))
	}
	return err
}

func expectAt(address string, expected []byte) error {
	response, err := http.Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	found, err := io.ReadAll(response.Body)
	if err == nil && !bytes.Equal(found, expected) {
		return fmt.Errorf("%s, %d other bytes instead of %d", response.Status, len(found), len(expected))
	}
	return err
}

func report(name string, err error) {
	if err == nil {
		fmt.Printf("%s: ok\n", name)
	} else {
		fmt.Printf("%s: %v\n", name, err)
	}
}

func putAndGet(client *minio.Client, bucket string, trailers bool) {
	for _, way := range ways {
		for _, size := range sizes {
			if size == 0 && way.options.ConcurrentStreamParts {
				continue // minio-go 7.0.46 fails with EOF before it sends a part.
			}
			name := fmt.Sprintf("%d bytes %s", size, way.name)
			if trailers {
				name += ", trailing headers"
			}
			body, options := content(size), way.options
			options.PartSize = partSize
			var reader io.Reader = bytes.NewReader(body)
			length := int64(size)
			if way.unknownLength {
				reader, length = stream{reader}, -1
			}
			_, err := client.PutObject(context.Background(), bucket, name, reader, length, options)
			if err == nil {
				err = expectContent(client, bucket, name, body)
			}
			report(name, err)
		}
	}
}

func otherOperations(client *minio.Client, bucket string) {
	ctx, body := context.Background(), content(largeSize)
	key := "dir/größe 🎈 +.bin"
	options := minio.PutObjectOptions{UserMetadata: map[string]string{"from": "minio-go"}, PartSize: partSize}
	_, err := client.PutObject(ctx, bucket, key, bytes.NewReader(body), largeSize, options)
	report("put with metadata", err)

	info, err := client.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err == nil && (info.Size != largeSize || info.UserMetadata["From"] != "minio-go") {
		err = fmt.Errorf("%+v", info)
	}
	report("stat", err)

	ranged := minio.GetObjectOptions{}
	_ = ranged.SetRange(partSize-1, partSize+1)
	found, err := get(client, bucket, key, ranged)
	if err == nil && !bytes.Equal(found, body[partSize-1:partSize+2]) {
		err = fmt.Errorf("%d other bytes", len(found))
	}
	report("range", err)

	destination := minio.CopyDestOptions{Bucket: bucket, Object: "copy"}
	_, err = client.CopyObject(ctx, destination, minio.CopySrcOptions{Bucket: bucket, Object: key})
	if err == nil {
		err = expectContent(client, bucket, "copy", body)
	}
	report("copy", err)

	// The object stays where tags are not implemented.
	err = client.RemoveObjectTagging(ctx, bucket, "copy", minio.RemoveObjectTaggingOptions{})
	if code := minio.ToErrorResponse(err).Code; code != "NotImplemented" {
		report("remove tags", fmt.Errorf("%q", code))
	} else {
		report("remove tags", expectContent(client, bucket, "copy", body))
	}

	presigned, err := client.PresignedGetObject(ctx, bucket, key, time.Minute, url.Values{})
	if err == nil {
		err = expectAt(presigned.String(), body)
	}
	report("get by presigned URL", err)

	objects := client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Recursive: true, MaxKeys: 5})
	for failed := range client.RemoveObjects(ctx, bucket, objects, minio.RemoveObjectsOptions{}) {
		report("remove "+failed.ObjectName, failed.Err)
	}
	for left := range client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Recursive: true}) {
		report("left "+left.Key, left.Err)
	}
	report("remove bucket", client.RemoveBucket(ctx, bucket))
}

func main() {
	server, err := url.Parse(os.Args[1])
	if err != nil {
		panic(err)
	}
	bucket := os.Args[2]
	for _, trailers := range []bool{false, true} {
		client, err := minio.New(server.Host, &minio.Options{
			Creds:           credentials.NewEnvAWS(),
			Region:          "auto",
			TrailingHeaders: trailers,
		})
		if err != nil {
			panic(err)
		}
		if !trailers {
			report("make bucket", client.MakeBucket(context.Background(), bucket, minio.MakeBucketOptions{}))
		}
		putAndGet(client, bucket, trailers)
		if trailers {
			otherOperations(client, bucket)
		}
	}
}
